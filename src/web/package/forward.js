/** What an engine's worker and the other side share: values on their way between them, and what to say of a worker that is lost. */

export const ADVICE = "Engine.create({ worker: true }) makes another engine; networks and problems are as they were";

/**
 * Plain values as a message takes them: arrays of numbers in memory that is given away, which joins `buffers`. It is copied, but where
 * `isOurs` says that nobody else has it. `special` may put something else than undefined in a value's place.
 */
export function forwarded(value, buffers, special, isOurs = false) {
  const other = special(value);
  if (other !== undefined) return other;
  if (typeof value !== "object" || value === null) return value;
  const inner = (entry) => forwarded(entry, buffers, special, isOurs);
  if (Array.isArray(value)) return value.map(inner);
  if (!ArrayBuffer.isView(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, inner(entry)]));
  }
  const { buffer, byteLength } = value;
  const isWhole = byteLength === buffer.byteLength && !buffers.includes(buffer);
  const given = isOurs && isWhole ? value : value.slice();
  buffers.push(given.buffer);
  return given;
}
