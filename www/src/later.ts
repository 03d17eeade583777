/**
 * Pieces of the page that are fetched when they are first needed. They cannot be where there is no network, or where the server has
 * another build by now.
 */

/** As Chrome, Firefox and Safari say it. */
const MODULE = /dynamically imported module|Importing a module script failed/;
const STYLE = /^Unable to preload CSS/;

/** Whether it is of a piece that did not come, and not of one that is wrong. */
export const isNotFetched = (error: unknown): error is Error =>
  error instanceof Error && (MODULE.test(error.message) || STYLE.test(error.message));

/** Asks for a piece, and asks again where it did not come, which succeeds in browsers that do not remember it (Chrome does). */
export function later<T>(load: () => Promise<T>): () => Promise<T> {
  let unstyled: Error | undefined;
  return async () => {
    // Vite asks for a style sheet once: the next time the piece would come without it.
    if (unstyled) throw unstyled;
    try {
      return await load();
    } catch (error) {
      if (isNotFetched(error) && STYLE.test(error.message)) unstyled = error;
      throw error;
    }
  };
}

/** Whether there is a page to be loaded: without one the browser would show its own in the place of this. */
export async function canReload(): Promise<boolean> {
  // The service worker answers this too, as it would answer the page.
  return await fetch(document.baseURI, { cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );
}
