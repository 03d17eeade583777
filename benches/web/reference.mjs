/** What results are held against: those of isoflat in f64, which the server keeps for all contenders. */

/** ‖x − reference‖ / ‖reference‖, or what is missing for it. With `isReference` these values are what the others are held against. */
export async function errorOf(values, { address = "", work, operation, isReference }) {
  const kind = operation === "plain" ? "product" : operation;
  const place = `${address}/reference/${work}/${kind}`;
  if (isReference) await fetch(place, { method: "POST", body: Float64Array.from(values) });
  const response = await fetch(place);
  if (!response.ok) return { missing: "no f64 reference" };
  const exact = new Float64Array(await response.arrayBuffer());
  if (exact.length !== values.length) return { missing: `${values.length} values, not ${exact.length}` };
  let [wrong, all] = [0, 0];
  for (let i = 0; i < exact.length; i++) {
    wrong += (values[i] - exact[i]) ** 2;
    all += exact[i] ** 2;
  }
  const error = Math.sqrt(wrong / all);
  return Number.isNaN(error) ? { missing: "NaN" } : { error };
}
