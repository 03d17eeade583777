/** The keyboard's place on the page, where what has it can no longer be pressed: browsers would put it back to the beginning. */

type Button = Pick<HTMLButtonElement, "disabled" | "focus" | "setAttribute" | "removeAttribute" | "addEventListener">;

const hasFocus = (button: Button): boolean => document.activeElement === (button as unknown);

/** Those that would be disabled, had they not the focus. */
const held = new WeakSet<Button>();
const watched = new WeakSet<Button>();

/** Disables a button. One that has the focus keeps it for as long, and does nothing when it is pressed. */
export function disable(button: Button, disabled: boolean): void {
  const isHeld = disabled && !button.disabled && hasFocus(button);
  button.disabled = disabled && !isHeld;
  if (!isHeld) {
    free(button);
    return;
  }
  held.add(button);
  button.setAttribute("aria-disabled", "true");
  if (watched.has(button)) return;
  watched.add(button);
  const press = (event: Event) => {
    if (!held.has(button)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  button.addEventListener("click", press, { capture: true });
  button.addEventListener("blur", () => {
    // Another window may have been chosen: the button has the focus still.
    if (!held.has(button) || hasFocus(button)) return;
    free(button);
    button.disabled = true;
  });
}

function free(button: Button): void {
  held.delete(button);
  button.removeAttribute("aria-disabled");
}

/** Two buttons, one of which ends what the other begins: the focus goes over to the one that can be pressed. */
export function alternate(begin: Button, end: Button, can: { begin: boolean; end: boolean }): void {
  const [onBegin, onEnd] = [hasFocus(begin), hasFocus(end)];
  begin.disabled = !can.begin;
  end.disabled = !can.end;
  if (onBegin && !can.begin && can.end) end.focus({ preventScroll: true });
  if (onEnd && !can.end && can.begin) begin.focus({ preventScroll: true });
}
