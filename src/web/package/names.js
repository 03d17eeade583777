/** Names: the module's own in JSON, `spectral_norm`, and JavaScript's for the same, `spectralNorm`. */

const camel = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());

const isPlain = (value) => Object.prototype.toString.call(value) === "[object Object]";

/** A copy whose keys are JavaScript's, at any depth. Lists stay as they are: those of the module are of numbers, or have such keys already. */
export function inCamelCase(value) {
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [camel(key), inCamelCase(entry)]));
}
