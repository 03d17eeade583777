import "./style/base.css";
import "./style/controls.css";
import "./style/layout.css";
import "./style/notices.css";
import "./style/charts.css";
import "./style/tables.css";
import "./style/heat.css";
import "./style/plots.css";
import "./style/spaces.css";
import "./style/findings.css";
import "./style/opened.css";
import { App } from "./app";
import { Messages } from "./messages";
import { NO_DINH, NO_VALUES, type State, Store } from "./store";
import { BendView } from "./views/bend";
import { dinhView } from "./views/dinh";
import { estimateView } from "./views/estimate";
import { filesView } from "./views/files";
import { headerView, themeView } from "./views/header";
import { InvarianceView } from "./views/invariance";
import { LayersView } from "./views/layers";
import { LookView } from "./views/look";
import { MeasuresView } from "./views/measures";
import { openedView } from "./views/opened";
import { sharpenView } from "./views/sharpen";
import { spacesView } from "./views/spaces";
import { SpectrumView } from "./views/spectrum";
import { statusView } from "./views/status";
import { stepsView } from "./views/steps";
import { table2View } from "./views/table2";
import { fillNetworks, readModelChoice, trainView } from "./views/train";

declare global {
  interface Window {
    /** For trying out what a person cannot bring about by hand. */
    isoflatLab: { app: App; loseDevice: () => Promise<void>; crash: () => Promise<void> };
  }
}

const store = new Store<State>({
  task: "starting",
  progress: null,
  engine: null,
  descriptions: [],
  operators: [],
  costs: null,
  model: null,
  modelChoice: null,
  trainChoice: null,
  opened: null,
  training: null,
  ready: false,
  bend: { lambda: [], nodewise: null, permutation: null },
  bendSummary: null,
  landscapeChoice: { directions: "random", normalization: "filter", seed: 1, points: 21, atBent: "same" },
  lines: {},
  surfaces: {},
  growing: {},
  measures: NO_VALUES,
  layers: {},
  spectrumChoice: { operator: "hessian", part: "all", probes: 4, steps: 60 },
  spectra: {},
  densities: {},
  dinh: NO_DINH,
  invariance: null,
  table2: null,
});

fillNetworks();
const app = new App(store, new Messages());
headerView(app);
const spaces = spacesView(app);
statusView(app);
stepsView(app);
filesView(app);
openedView(app);
table2View(app);
sharpenView(app);
dinhView(app);
new MeasuresView(app);
const layers = new LayersView(app);
new SpectrumView(app);
new InvarianceView(app);
const training = trainView(app);
estimateView(app);
const look = new LookView(app);
const bend = new BendView(app);
themeView(() => {
  training.redraw();
  look.redraw();
  bend.redraw();
  layers.redraw();
  spaces.redraw();
});

window.isoflatLab = { app, loseDevice: () => app.loseDevice(), crash: () => app.crash() };
void app.start(readModelChoice());
