/** What can be taken along of the whole: results, the report, weights in other programs' formats, and how to cite it. */

import { html, nothing, render } from "lit-html";
import { Address, SAID } from "../address";
import type { App } from "../app";
import { download } from "../dom";
import { bibtex, plainCitation } from "../figures/cite";
import { found, refusalOf } from "../store";
import type { SaveChoice, SavedPoint } from "../worker/protocol";
import { watchIn } from "./closed";
import { copy } from "./copy";
import { estimateView } from "./estimate";
import { place, within } from "./place";
import type { ReportView } from "./report";

type Form = "bibtex" | "plain";

const RIGID =
  "This network has an activation that is not positively homogeneous: no rescaling leaves what it computes.";

/** How long a button says what it has done, in milliseconds. */
const SAID_MS = 2000;

/** A frame of another page with the stage alone in it. */
function embedCode(hash: string): string {
  const address = `${location.origin}${location.pathname}?embed${hash}`
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;");
  return `<iframe src="${address}" width="880" height="680" title="isoflat: how flat is this minimum?" loading="lazy"></iframe>`;
}

export function keepView(app: App, report: ReportView): void {
  const at = place("keep");
  let form: Form = "bibtex";
  /** What has just been copied. */
  let copied: "citation" | "embed" | null = null;
  const citation = (): string => {
    const address = `${location.origin}${location.pathname}`;
    const today = new Date().toISOString().slice(0, 10);
    return form === "bibtex" ? bibtex(address, today) : plainCitation(address, today);
  };
  const save = async (point: SavedPoint): Promise<void> => {
    const format = at.querySelector<HTMLSelectElement>("#save-format")?.value ?? "problem.json";
    const file = await app.savedFile(point, format as SaveChoice);
    if (file) download(file.name, file.bytes);
  };
  const copyAs = async (what: "citation" | "embed", text: string): Promise<void> => {
    copied = (await copy(text)) ? what : null;
    draw();
    setTimeout(() => {
      copied = null;
      draw();
    }, SAID_MS);
  };
  const draw = (): void => {
    const { state } = app.store;
    const { ready, task, model, bendSummary, dinh, opened } = state;
    const hash = ready ? Address.of(state, "train") : null;
    const isOnnx = opened?.format === "ONNX";
    const { about } = report;
    const sharpened = found(dinh.sharpened);
    render(
      html`<div class="side">
          <h2 id="keep-tab-title">Keep it</h2>
          <p class="story">Everything here can be taken along: results, reports, and the weights themselves.</p>
        </div>
        <div class="display keep">
          <section aria-labelledby="keep-results">
            <h3 id="keep-results">Results</h3>
            <p class="note">
              Every chart and table has its own menu, with pictures, drawings and numbers. Here is all of it at once; the
              full report says everything that can be said of the trained weights, cheapest first, as a page to read and
              print. Stop keeps what is finished.
            </p>
            <div class="row wrap">
              <button
                id="save-result"
                type="button"
                @click=${() => download("isoflat-result.json", app.resultFile())}
              >
                Save the result (JSON)
              </button>
              <button id="save-report" type="button" ?disabled=${!ready || task === "reporting"} @click=${() => void report.compute()}>
                Full report
              </button>
              ${
                about === null
                  ? nothing
                  : html`<span><a href="#/report">Open the report</a> <small id="report-about" class="range">${about}</small></span>`
              }
              <button
                id="copy-embed"
                type="button"
                title=${hash === null ? "No address holds this network" : "The stage as it stands, for the HTML of an article"}
                ?disabled=${hash === null}
                @click=${() => void copyAs("embed", embedCode(hash ?? ""))}
              >
                <span role="status">${copied === "embed" ? "Copied" : "Copy embed code"}</span>
              </button>
            </div>
            <p id="report-estimate" class="note estimate"></p>
          </section>
          <section aria-labelledby="keep-weights">
            <h3 id="keep-weights">Weights</h3>
            <label class="keep-format"
              >Weights as
              <select id="save-format">
                <option value="problem.json">a problem file: network, data and weights (JSON)</option>
                <option value="problem.safetensors">the same, smaller (safetensors)</option>
                <option value="safetensors">weights alone: safetensors</option>
                <option value="npz">weights alone: npz</option>
                <option value="onnx" id="save-onnx" ?disabled=${!isOnnx}>the ONNX file that was opened</option>
              </select>
            </label>
            <div class="row wrap">
              <button id="save-problem" type="button" ?disabled=${model === null} @click=${() => void save("trained")}>
                Save as trained
              </button>
              <button
                id="save-bent"
                type="button"
                title=${bendSummary === null ? "Not bent yet: choose Bend on the stage and drag its slider" : nothing}
                ?disabled=${bendSummary === null}
                @click=${() => void save("bent")}
              >
                Save bent
              </button>
              <button
                id="save-balanced"
                type="button"
                title=${model?.homogeneous === false ? RIGID : "Rescaled to the least norm: the network computes the same"}
                ?disabled=${!model?.homogeneous}
                @click=${() => void save("balanced")}
              >
                Save balanced
              </button>
              <button
                id="save-sharpened"
                type="button"
                title=${sharpened ? nothing : (refusalOf(dinh.sharpened) ?? "Not sharpened yet: choose Sharpen on the stage and drag its slider")}
                ?disabled=${!sharpened}
                @click=${() => void save("sharpened")}
              >
                Save sharpened
              </button>
            </div>
          </section>
          <section id="cite" aria-labelledby="cite-title">
            <h3 id="cite-title">Cite</h3>
            <p class="note">isoflat at this address, and the four papers that it is made of.</p>
            <fieldset class="segments small" aria-label="Form of the citation">
              ${(["bibtex", "plain"] as const).map(
                (value) =>
                  html`<label
                    ><input
                      type="radio"
                      name="cite-form"
                      value=${value}
                      ?checked=${value === "bibtex"}
                      @change=${() => {
                        form = value;
                        draw();
                      }}
                    /><span>${value === "bibtex" ? "BibTeX" : "In words"}</span></label
                  >`,
              )}
            </fieldset>
            <pre id="citation" tabindex="0" role="group" aria-label="The citation">${citation()}</pre>
            <div class="row wrap">
              <button id="cite-copy" type="button" @click=${() => void copyAs("citation", citation())}>
                <span role="status">${copied === "citation" ? "Copied" : "Copy"}</span>
              </button>
              <button
                id="cite-save"
                type="button"
                @click=${() => download(form === "bibtex" ? "isoflat.bib" : "isoflat-citation.txt", citation())}
              >
                Save
              </button>
            </div>
          </section>
        </div>`,
      at,
    );
    // What cannot be had any more is not what is chosen.
    const format = at.querySelector<HTMLSelectElement>("#save-format");
    if (format?.value === "onnx" && !isOnnx) format.selectedIndex = 0;
  };
  watchIn(at, app, [...SAID, "bendSummary", "opened"], draw);
  report.changed = draw;
  estimateView(app, "report", within(at)("p", "report-estimate"));
}
