import "./style/base.css";
import "./style/controls.css";
import "./style/layout.css";
import "./style/sameness.css";
import "./style/gauges.css";
import "./style/stage.css";
import "./style/notices.css";
import "./style/charts.css";
import "./style/tables.css";
import "./style/heat.css";
import "./style/plots.css";
import "./style/spaces.css";
import "./style/findings.css";
import "./style/opened.css";
import "./style/networks.css";
import "./style/take.css";
import "./style/report.css";
import "./style/keep.css";
import { App } from "./app";
import { LANDSCAPE } from "./arrival/arrival";
import { beginning } from "./arrival/load";
import { forgetColours } from "./dom";
import { type Link, readQuery } from "./link";
import { Messages } from "./messages";
import { NO_DINH, NO_VALUES, NOT_SHARP, type State, Store } from "./store";
import { BendView } from "./views/bend";
import { dinhView } from "./views/dinh";
import { estimateView } from "./views/estimate";
import { filesView } from "./views/files";
import { gaugesView } from "./views/gauges";
import { guideView } from "./views/guide";
import { headerView, themeView } from "./views/header";
import { InvarianceView } from "./views/invariance";
import { keepView } from "./views/keep";
import { landscapeFigures, trainingFigures } from "./views/landscape-figures";
import { LayersView } from "./views/layers";
import { LookView } from "./views/look";
import { MeasuresView } from "./views/measures";
import { NetworksView } from "./views/networks";
import { openedView } from "./views/opened";
import { ReportView } from "./views/report";
import { samenessView } from "./views/sameness";
import { sharpenView } from "./views/sharpen";
import { spacesView } from "./views/spaces";
import { SpectrumView } from "./views/spectrum";
import { stageView } from "./views/stage";
import { statusView } from "./views/status";
import { table2View } from "./views/table2";
import { tabsView } from "./views/tabs";
import { fillNetworks, readModelChoice, trainView } from "./views/train";
import { waysBackView } from "./views/ways-back";

declare global {
  interface Window {
    /** For trying out what a person cannot bring about by hand. */
    isoflatLab: { app: App; loseDevice: () => Promise<void>; crash: () => Promise<void>; kill: () => void };
  }
}

/** Parts that show more of the points than the stage does. */
const COMPUTED: ReadonlySet<string> = new Set(["measures", "layers", "dinh"]);

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
  stamp: null,
  shelf: [],
  undo: null,
  redo: null,
  ready: false,
  sharpness: NOT_SHARP,
  bend: { lambda: [], nodewise: null, permutation: null },
  bendSummary: null,
  preview: null,
  examples: null,
  accuracy: {},
  landscapeChoice: LANDSCAPE,
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
const report = new ReportView(app);
filesView(app, report);
keepView(app, report);
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
landscapeFigures(app, look);
trainingFigures(app, training);
const bend = new BendView(app);
stageView(app);
samenessView(app);
gaugesView(app);
waysBackView(app);
const networks = new NetworksView(app);
/** Charts are drawn to fit their place, which a closed panel has not. */
const redraw = (): void => {
  training.redraw();
  look.redraw();
  bend.redraw();
  layers.redraw();
  spaces.redraw();
};
themeView(() => {
  forgetColours();
  redraw();
});
tabsView((tab) => {
  redraw();
  report.shown();
  if (COMPUTED.has(tab)) app.complete();
  if (tab === "networks") networks.show();
});

window.isoflatLab = { app, loseDevice: () => app.loseDevice(), crash: () => app.crash(), kill: () => app.kill() };
const link = takeLink();
const first = beginning(link !== null);
const guide = guideView(app, first);
// A link says where the twin is to be: nothing else moves it.
void app.start(readModelChoice(), first, link ? async () => {} : guide).then(() => link && app.openLink(link));
window.addEventListener("hashchange", () => {
  const later = takeLink();
  if (later) void app.openLink(later);
});

/** What the address says, which it says once: from then on the page keeps what it shows. */
function takeLink(): Link | null {
  const [part = "", query = ""] = location.hash.split("?");
  const found = readQuery(query);
  if (found) history.replaceState(null, "", part || "#/train");
  return found;
}
