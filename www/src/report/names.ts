/** Names in reports: in camel case, those of measures and operators with underscores too. */

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

/** `spectralNorm` for `spectral_norm`. */
export const inCamelCase = <Name extends string>(name: Name): CamelCase<Name> =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) as CamelCase<Name>;

/** Where a report has a measure or an operator: `["hessian", "spectralNorm"]` of `hessian.spectral_norm`. */
export const pathOf = (key: string): string[] => key.split(".").map(inCamelCase);

/** A report's values, as older files have them too: with underscores. */
export function withCamelCase(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [inCamelCase(key), withCamelCase(entry)]));
}
