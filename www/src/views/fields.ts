/** Fields of numbers: what they have, and what is wrong with one, beside it. */

import { html } from "../dom";
import { type Field, FieldFault, numberOf } from "../fields";

/** Within the limits that the field itself has, too. */
export function readNumber(input: HTMLInputElement, field: Field): number {
  const { id, value: text, min, max, validity } = input;
  const limit = (text: string) => (text === "" ? undefined : Number(text));
  return numberOf(id, { text, isBad: validity.badInput }, { least: limit(min), most: limit(max), ...field });
}

/** Of a field that stands alone: null where it has none, which is then said beside it. */
export function numberIn(input: HTMLInputElement, field: Field): number | null {
  const fault = faultOf(input, field);
  if (fault) showFault(input, fault, () => faultOf(input, field) === null);
  else clearFault(input);
  return fault ? null : readNumber(input, field);
}

function faultOf(input: HTMLInputElement, field: Field): FieldFault | null {
  try {
    readNumber(input, field);
    return null;
  } catch (error) {
    if (error instanceof FieldFault) return error;
    throw error;
  }
}

/** Shows the fault at its field. What is written there then is asked about until it is mended. */
export function showFault(
  input: HTMLInputElement,
  { message }: FieldFault,
  isMended: () => boolean,
  onMended = (): void => {},
): void {
  clearFault(input);
  const said = html("p", { id: noteOf(input), class: "note whole field-fault" }, `${message}.`);
  (input.closest("label") ?? input).after(said);
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", said.id);
  const look = () => {
    if (said.isConnected) {
      if (!isMended()) return;
      clearFault(input);
      onMended();
    }
    input.removeEventListener("input", look);
  };
  input.addEventListener("input", look);
}

export function clearFault(input: HTMLInputElement): void {
  input.removeAttribute("aria-invalid");
  input.removeAttribute("aria-describedby");
  document.getElementById(noteOf(input))?.remove();
}

/** To the field, wherever it is folded away. */
export function goTo(input: HTMLInputElement): void {
  for (const details of foldsAround(input)) details.open = true;
  input.focus();
}

function foldsAround(element: Element): HTMLDetailsElement[] {
  const details = element.parentElement?.closest("details");
  return details ? [details, ...foldsAround(details)] : [];
}

const noteOf = ({ id }: HTMLInputElement): string => `${id}-fault`;
