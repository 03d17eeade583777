/** Fields of numbers in the form that trains: what they have, and what is wrong with one, beside it. */

import { html } from "../dom";
import { type Field, type FieldFault, numberOf } from "../fields";
import { part } from "./train-form";

/** Within the limits that the field itself has, too. */
export function readNumber(id: string, field: Field): number {
  const { value: text, min, max, validity } = part("input", id);
  const limit = (text: string) => (text === "" ? undefined : Number(text));
  return numberOf(id, { text, isBad: validity.badInput }, { least: limit(min), most: limit(max), ...field });
}

/** Shows the fault at its field. What is written there then is asked about until it is mended. */
export function showFault({ field, message }: FieldFault, isMended: () => boolean, onMended: () => void): void {
  const input = part("input", field);
  clearFault(field);
  const said = html("p", { id: noteOf(field), class: "note whole field-fault" }, `${message}.`);
  (input.closest("label") ?? input).after(said);
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", said.id);
  const look = () => {
    if (said.isConnected) {
      if (!isMended()) return;
      clearFault(field);
      onMended();
    }
    input.removeEventListener("input", look);
  };
  input.addEventListener("input", look);
}

export function clearFault(id: string): void {
  const input = part("input", id);
  input.removeAttribute("aria-invalid");
  input.removeAttribute("aria-describedby");
  document.getElementById(noteOf(id))?.remove();
}

/** To the field, wherever it is folded away. */
export function goTo(id: string): void {
  const input = part("input", id);
  for (const details of foldsAround(input)) details.open = true;
  input.focus();
}

function foldsAround(element: Element): HTMLDetailsElement[] {
  const details = element.parentElement?.closest("details");
  return details ? [details, ...foldsAround(details)] : [];
}

const noteOf = (id: string): string => `${id}-fault`;
