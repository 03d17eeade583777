/** Where a view's own markup goes: index.html has places, and each view fills its one and looks at no other. */

export function place(name: string): HTMLElement {
  const element = document.querySelector<HTMLElement>(`[data-view="${name}"]`);
  if (element === null) throw new Error(`the page has no place for ${name}`);
  return element;
}

/** Elements of a view's own, by tag and id: those in its place. */
export function within(place: HTMLElement) {
  return <K extends keyof HTMLElementTagNameMap>(tag: K, id: string): HTMLElementTagNameMap[K] => {
    const element = place.querySelector<HTMLElementTagNameMap[K]>(`${tag}#${id}`);
    if (element === null) throw new Error(`the view has no <${tag} id="${id}">`);
    return element;
  };
}
