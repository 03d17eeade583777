/** Where a view's own markup goes: index.html has places, and each view fills its one and looks at no other. */

export function place(name: string): HTMLElement {
  const element = document.querySelector<HTMLElement>(`[data-view="${name}"]`);
  if (element === null) throw new Error(`the page has no place for ${name}`);
  return element;
}
