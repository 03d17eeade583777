/** Layer by layer: the network that weights alone are taken for, or a draft of one, and what they do not tell, to be set. */

import type { LayerJSON, NetworkJSON } from "isoflat";
import type { App } from "../app";
import { html } from "../dom";
import {
  BETWEEN,
  INPUT,
  inputOf,
  isSet,
  networkOf,
  type Row,
  remove,
  rowsOf,
  shapes,
  title,
  usualShortcut,
} from "../layers";
import type { OpenedFiles } from "../worker/protocol";
import { numberIn } from "./fields";
import { within } from "./place";

/** Rows are checked when a person has stopped typing. */
const REST_MS = 200;

export function proposalView(app: App, details: HTMLDetailsElement, open: (network: string) => void): void {
  const own = within(details);
  const body = own("tbody", "opened-rows");
  const fault = own("p", "opened-layers-fault");
  const apply = own("button", "opened-apply");
  const size = own("input", "opened-input");
  const first = own("span", "opened-first");
  let input: NetworkJSON["input"] = [1];
  let rows: Row[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Of the last check that was begun: an earlier one that ends later is old news. */
  let checks = 0;

  const checkSoon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void check(), REST_MS);
  };
  const draw = (): void => {
    const change = (after: () => void) => () => {
      after();
      draw();
      checkSoon();
    };
    body.replaceChildren(...rows.map((row, index) => drawn(row, index, rows, change)));
    first.replaceChildren(adder(-1, rows, change));
  };
  const check = async (): Promise<void> => {
    const mine = ++checks;
    const found = await app.checkLayers(JSON.stringify(networkOf(input, rows)));
    if (mine !== checks || !found) return;
    const cells = body.querySelectorAll("td.shape");
    shapes(input, rows, found.lengths).forEach((shape, index) => {
      const cell = cells[index];
      if (cell) cell.textContent = shape;
    });
    fault.textContent = found.fault ?? "";
    fault.hidden = found.fault === null;
    apply.disabled = found.fault !== null;
  };
  const show = (opened: OpenedFiles | null): void => {
    const found = opened?.layers && rowsOf(opened.layers);
    details.hidden = !found;
    if (!found || !opened?.layers) return;
    input = opened.layers.input;
    size.value = input.join(" × ");
    rows = found;
    draw();
    // What fits nothing is to be set here.
    if (opened.fault !== null) details.open = true;
    if (details.open) void check();
  };
  size.addEventListener("change", () => {
    input = inputOf(size.value) ?? input;
    size.value = input.join(" × ");
    checkSoon();
  });
  details.addEventListener("toggle", () => {
    if (details.open) void check();
  });
  apply.addEventListener("click", () => open(JSON.stringify(networkOf(input, rows))));
  app.store.watch(["opened"], () => show(app.store.state.opened));
}

type Change = (after: () => void) => () => void;

function drawn(row: Row, index: number, rows: Row[], change: Change): HTMLElement {
  const settings = html("div", { class: "row wrap" }, ...settingsOf(row, index, rows, change));
  return html(
    "tr",
    {},
    html("td", {}, settings),
    html("td", { class: "shape" }),
    html("td", {}, adder(index, rows, change)),
  );
}

function settingsOf(row: Row, index: number, rows: Row[], change: Change): HTMLElement[] {
  const { layer } = row;
  if (!isSet(row)) {
    const settings = [html("span", {}, title(row))];
    if (layer.type !== "conv2d") return settings;
    for (const key of ["stride", "padding"] as const) settings.push(number(layer, key, index, change));
    // Any but the first may be the one that leads around a block.
    return index === 0 ? settings : [...settings, reader(row, "reads", index, rows, change)];
  }
  const kind = choice(`kind of layer ${index + 1}`, Object.entries(BETWEEN), layer.type);
  kind.addEventListener(
    "change",
    change(() => {
      row.layer = { ...(BETWEEN[kind.value]?.layer ?? layer) };
      if (row.layer.type === "add") row.shortcut ??= usualShortcut(rows, index);
      else delete row.shortcut;
    }),
  );
  const out = html("button", { type: "button", class: "quiet", "aria-label": `Take out layer ${index + 1}` }, "✕");
  out.addEventListener(
    "click",
    change(() => remove(rows, index)),
  );
  const more: HTMLElement[] = [];
  if (layer.type === "max_pool2d" || layer.type === "avg_pool2d") {
    for (const key of ["size", "stride"] as const) more.push(number(layer, key, index, change));
  }
  if (layer.type === "add") more.push(reader(row, "shortcut", index, rows, change));
  if (row.reads) more.push(reader(row, "reads", index, rows, change));
  return [kind, ...more, out];
}

/** Which row this one reads, or adds to what it reads. */
function reader(row: Row, key: "reads" | "shortcut", index: number, rows: Row[], change: Change): HTMLElement {
  const before = key === "reads" ? [["before", { label: "reads the one before" }] as const] : [];
  // A sum may add the row before it to itself; what a row reads is the one before it anyway.
  const earlier = rows.slice(0, Math.max(key === "reads" ? index - 1 : index, 0)).map((other, at) => {
    return [String(at), { label: `${key === "reads" ? "reads" : "adds"} ${at + 1}: ${title(other)}` }] as const;
  });
  const input = [INPUT, { label: key === "reads" ? "reads the input" : "adds the input" }] as const;
  const other = row[key];
  const value = other === undefined ? "before" : other === INPUT ? INPUT : String(rows.indexOf(other));
  const what = key === "reads" ? `what layer ${index + 1} reads` : `what layer ${index + 1} adds`;
  const from = choice(what, [...before, ...earlier, input], value);
  from.className = "reader";
  from.addEventListener(
    "change",
    change(() => {
      const chosen = from.value === INPUT ? INPUT : rows[Number(from.value)];
      if (chosen) row[key] = chosen;
      else delete row[key];
    }),
  );
  return from;
}

/** What may be put behind a layer. */
function adder(index: number, rows: Row[], change: Change): HTMLElement {
  const where = index < 0 ? "put behind the input" : `put behind layer ${index + 1}`;
  const add = choice(where, [["", { label: "+" }], ...Object.entries(BETWEEN)], "");
  add.className = "adder";
  add.addEventListener(
    "change",
    change(() => {
      const found = BETWEEN[add.value];
      if (!found) return;
      const row: Row = { layer: { ...found.layer } };
      if (found.layer.type === "add") row.shortcut = usualShortcut(rows, index + 1);
      rows.splice(index + 1, 0, row);
    }),
  );
  return add;
}

function choice(label: string, entries: (readonly [string, { label: string }])[], value: string): HTMLSelectElement {
  const options = entries.map(([name, { label }]) => html("option", { value: name, selected: name === value }, label));
  return html("select", { "aria-label": label }, ...options);
}

type Numbers = { stride?: unknown; padding?: unknown; size?: unknown };

/** A whole number of a layer, the same for height and width. */
function number(layer: LayerJSON & Numbers, key: keyof Numbers, index: number, change: Change): HTMLElement {
  const least = key === "padding" ? 0 : 1;
  const given = layer[key];
  // Both pools go on by their own size where nothing is said.
  const usual = key === "stride" && "size" in layer ? layer.size : least;
  const value = [given ?? usual].flat()[0];
  const field = html("input", {
    type: "number",
    id: `layer-${index}-${key}`,
    min: least,
    max: 64,
    value: String(value),
    "aria-label": `${key} of layer ${index + 1}`,
  });
  const apply = change(() => {
    layer[key] = Number(field.value);
  });
  field.addEventListener("change", () => {
    if (numberIn(field, { name: `The ${key} of layer ${index + 1}`, whole: true }) !== null) apply();
  });
  return html("label", { class: "inline" }, key, field);
}
