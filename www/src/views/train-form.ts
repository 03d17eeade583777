/** The markup of the part in which one trains: the form, and what is seen while a network learns. Rendered once: what is written in fields stays. */

import { html, render } from "lit-html";
import { place } from "./place";

const form = place("train");
const display = place("training");

/** An element of this part. */
export function part<K extends keyof HTMLElementTagNameMap>(tag: K, id: string): HTMLElementTagNameMap[K] {
  const element = form.querySelector<HTMLElementTagNameMap[K]>(`#${id}`) ?? display.querySelector(`#${id}`);
  if (element === null || element.localName !== tag) throw new Error(`the form has no <${tag} id="${id}">`);
  return element as HTMLElementTagNameMap[K];
}

export function renderForm(): void {
  render(FORM, form);
  render(DISPLAY, display);
}

/** Files are opened by another view, which has its buttons here; `put-aside` is the place of what has left the stage. */
const FORM = html`
    <h2 id="train-title">Train</h2>
    <p id="train-story" class="story">A small network learns handwritten digits, here in your browser. Press <em>Train</em>.</p>
    <form id="train-form">
      <div class="row">
        <button id="train-button" type="submit" class="primary">Train</button>
        <button id="stop-button" type="button" disabled>Stop</button>
        <button id="continue-button" type="button" hidden>Continue</button>
      </div>
      <p id="unfinished-note" class="note" hidden></p>
      <div id="put-aside" data-view="put-aside"></div>
      <p id="model-summary" class="note"></p>
      <p id="train-estimate" class="note estimate"></p>
      <details class="options">
        <summary>Options</summary>
        <div class="fields">
          <label class="whole">Network
            <select id="network">
              <option value="widths">other widths…</option>
            </select>
          </label>
          <label id="widths-field" hidden>Widths, input first
            <input id="widths" type="text" value="784-100-10" spellcheck="false" autocomplete="off">
          </label>
          <label id="bias-field" class="check" hidden><input id="bias" type="checkbox" checked> with biases</label>
          <label class="whole">Data
            <select id="data">
              <option value="mnist">MNIST digits</option>
              <option value="synthetic">random samples and labels</option>
            </select>
          </label>
          <p id="data-note" class="note whole" hidden></p>
          <label><span id="samples-label">Training samples</span>
            <input id="samples" type="number" min="1" max="60000" step="1" value="24000">
          </label>
          <label>Of these, measured
            <input id="measured" type="number" min="1" max="60000" step="1" value="500">
          </label>
          <label class="whole">Initialisation
            <select id="init">
              <option value="kaiming_uniform">Kaiming uniform</option>
              <option value="kaiming_normal">Kaiming normal</option>
              <option value="xavier_normal">Xavier normal</option>
              <option value="pytorch">as PyTorch, ±1/√inputs</option>
              <option value="uniform">uniform (−b, b)</option>
              <option value="normal">normal (0, σ²)</option>
            </select>
          </label>
          <label id="scale-field" hidden><span id="scale-label">b</span>
            <input id="scale" type="number" min="0" step="any" value="0.1">
          </label>
          <label class="whole">Optimiser
            <select id="optimizer">
              <option value="sgd">SGD</option>
              <option value="momentum" selected>SGD, momentum 0.9</option>
              <option value="adam">Adam</option>
            </select>
          </label>
          <label>Learning rate <input id="learning-rate" type="number" min="0" step="any" value="0.02"></label>
          <label>Batch <input id="batch" type="number" min="1" step="1" value="64"></label>
          <label>Epochs <input id="epochs" type="number" min="1" max="10000" step="1" value="8"></label>
          <label>Seed <input id="seed" type="number" min="0" max="4294967295" step="1" value="1"></label>
        </div>
      </details>
      <div class="row wrap small">
        <button id="untrained-button" type="button" class="link">Look without training</button>
        <button id="open-button" type="button" class="link">Open your own model and data…</button>
        <input id="open-input" type="file" multiple class="visually-hidden" tabindex="-1" aria-label="Files of a model and its data">
      </div>
      <p class="note faint">or drop them anywhere on the page: ONNX, PyTorch, safetensors, npz, TensorFlow.js; npz, IDX, CIFAR, CSV, images. Nothing leaves this computer.</p>
    </form>`;

const DISPLAY = html`
    <div class="readouts">
      <div><span class="label">epoch</span><output id="r-epoch">–</output></div>
      <div><span class="label">loss</span><output id="r-loss">–</output></div>
      <div><span class="label">accuracy</span><output id="r-accuracy">–</output></div>
      <div><span class="label">test accuracy</span><output id="r-validation">–</output></div>
    </div>
    <div id="training-chart" class="chart" role="img" aria-label="Loss and accuracy during training"></div>
    <ul class="legend" id="training-legend">
      <li><span class="key solid"></span>loss</li>
      <li><span class="key dashed"></span>accuracy</li>
      <li id="legend-test"><span class="key dot"></span>test accuracy</li>
    </ul>`;
