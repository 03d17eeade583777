/** The one error that isoflat throws and rejects with. */

/** May a constructor of this package run? A caller's `new` may not: what it would make is behind no module. */
const permit = Symbol("isoflat");

export class IsoflatError extends Error {
  constructor(key, code, message, cause) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    if (key !== permit) {
      this.code = "invalid_handle";
      this.message = "an IsoflatError is made by isoflat alone";
    }
  }

  get name() {
    return "IsoflatError";
  }
}

/** Most characters of a message: one that quotes what is of any length does not become as long. */
const LONGEST = 1800;

/** An error of this code. */
export function fault(code, message, cause) {
  const text = message.length > LONGEST ? `${message.slice(0, LONGEST)} …` : message;
  return new IsoflatError(permit, code, text, cause);
}

/** What the module threw, as the package's error. */
export function adopted(thrown) {
  if (thrown instanceof IsoflatError) return thrown;
  if (typeof thrown?.code === "string") return fault(thrown.code, thrown.message);
  return fault("crashed", `isoflat failed where it should not: ${described(thrown)}. Please report it`, thrown);
}

/** What an exception says, whatever it is. */
export function described(thrown) {
  try {
    return thrown instanceof Error ? `${thrown.message}` : String(thrown);
  } catch {
    return "an exception that cannot be read";
  }
}
