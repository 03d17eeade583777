/** Whether elements are near the window, how large they are, and when to draw; where nobody says that, as in a test's document, it is now. */

/** Does somebody say when a size has become another? */
export const isSizeObserved = typeof ResizeObserver !== "undefined";

/** `margin`: of the window, as style sheets spell lengths. Answers how to stop. */
export function whenNear(element: Element, margin: string, told: (isNear: boolean) => void): () => void {
  if (typeof IntersectionObserver === "undefined") {
    told(true);
    return () => {};
  }
  const observer = new IntersectionObserver((entries) => told(entries.at(-1)?.isIntersecting === true), {
    rootMargin: margin,
  });
  observer.observe(element);
  return () => observer.disconnect();
}

/** It says how large the place is when that is known: to ask would lay the page out once more. Answers how to stop. */
export function whenSized(element: Element, told: (width: number, height: number) => void): () => void {
  if (!isSizeObserved) {
    let isOver = false;
    // Not before who asks has been made.
    queueMicrotask(() => !isOver && told(element.clientWidth, element.clientHeight));
    return () => {
      isOver = true;
    };
  }
  const observer = new ResizeObserver(([entry]) => {
    if (entry) told(entry.contentRect.width, entry.contentRect.height);
  });
  observer.observe(element);
  return () => observer.disconnect();
}

/** Before the next picture. Answers how to leave it. */
export function nextFrame(draw: () => void): () => void {
  if (typeof requestAnimationFrame === "undefined") {
    const timer = setTimeout(draw);
    return () => clearTimeout(timer);
  }
  const frame = requestAnimationFrame(draw);
  return () => cancelAnimationFrame(frame);
}
