/** Makes a case smaller for as long as it fails the same way: delta debugging on its JSON. */

/** Where a case says what it is: to change that would make another case of it. */
const fixed = new Set([
  "kind",
  "what",
  "precision",
  "way",
  "call",
  "$",
  "do",
  "type",
  "promise",
  "fault",
  "work",
  "method",
]);

/** Every place of a value: the path of keys, longest lists first. */
function places(value, path = []) {
  if (value === null || typeof value !== "object") return [path];
  return [path, ...Object.keys(value).flatMap((key) => (fixed.has(key) ? [] : places(value[key], [...path, key])))];
}

const at = (root, path) => path.reduce((value, key) => value[key], root);

function replaced(root, path, value) {
  if (path.length === 0) return value;
  const changed = JSON.parse(JSON.stringify(root));
  const holder = at(changed, path.slice(0, -1));
  const key = path.at(-1);
  if (value !== undefined) holder[key] = value;
  else if (Array.isArray(holder)) holder.splice(key, 1);
  else delete holder[key];
  return changed;
}

/** Simpler values in place of one, the simplest first. */
function* simpler(value) {
  if (Array.isArray(value) && value.length > 1) {
    const half = Math.ceil(value.length / 2);
    yield value.slice(0, half);
    yield value.slice(half);
    if (value.length > 3) yield [...value.slice(0, half - 1), ...value.slice(half)];
  }
  if (typeof value === "string" && value.length > 8) {
    yield value.slice(0, value.length / 2);
    yield value.slice(value.length / 2);
  }
  if (typeof value === "number") {
    for (const small of [0, 1, 2, Math.round(value)]) if (small !== value && Number.isFinite(small)) yield small;
    const rounded = Number(value.toPrecision(2));
    if (rounded !== value) yield rounded;
  }
}

function* candidates(test) {
  const all = places(test).sort((a, b) => a.length - b.length);
  for (const path of all) if (path.length > 0) yield replaced(test, path, undefined);
  for (const path of all) for (const value of simpler(at(test, path))) yield replaced(test, path, value);
}

/**
 * The smallest case found with the same failure. `fails(candidate)` says whether it still does; no more than `tries` are tried, nor
 * longer than `milliseconds`.
 */
export async function minimize(test, fails, { tries = 150, milliseconds = 15_000 } = {}) {
  const begin = performance.now();
  let best = test;
  const seen = new Set([JSON.stringify(test)]);
  for (let changed = true; changed; ) {
    changed = false;
    for (const candidate of candidates(best)) {
      const text = JSON.stringify(candidate);
      if (seen.has(text) || text.length >= JSON.stringify(best).length + 4) continue;
      seen.add(text);
      if (seen.size > tries || performance.now() - begin > milliseconds) return best;
      if (await fails(candidate)) {
        best = candidate;
        changed = true;
        break;
      }
    }
  }
  return best;
}
