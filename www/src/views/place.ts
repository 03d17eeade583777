/** Where a view's own markup goes: index.html has places, and each view fills its one and looks at no other. */

export function place(name: string): HTMLElement {
  const element = document.querySelector<HTMLElement>(`[data-view="${name}"]`);
  if (element === null) throw new Error(`the page has no place for ${name}`);
  return element;
}

/** An element of a view's own place, by the id that labels, styles or tests know it by. */
export function within<K extends keyof HTMLElementTagNameMap>(
  place: HTMLElement,
  tag: K,
  id: string,
): HTMLElementTagNameMap[K] {
  const element = place.querySelector<HTMLElementTagNameMap[K]>(`${tag}#${id}`);
  if (element === null) throw new Error(`${place.dataset.view} has no <${tag} id="${id}">`);
  return element;
}
