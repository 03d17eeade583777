import "./style/theme.css";
import "./style/basics.css";
import "./style/base.css";
import "./style/controls.css";
import "./style/segments.css";
import "./style/layout.css";
import "./style/sameness.css";
import "./style/gauges.css";
import "./style/stage.css";
import "./style/stage-wide.css";
import "./style/stage-narrow.css";
import "./style/notices.css";
import "./style/drawings.css";
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
import "./style/words.css";
import "./style/keep.css";
import { Address } from "./address";
import { App } from "./app";
import { beginning } from "./arrival/load";
import { drawersInWorker } from "./charts/surface-in-worker";
import { forgetColours } from "./dom";
import { later } from "./later";
import { Messages } from "./messages";
import { idle, painted, ShortTasks } from "./moments";
import { defineElements } from "./plots/elements";
import { IsoflatLandscape } from "./plots/landscape";
import { FIRST_STATE } from "./states";
import { type State, Store } from "./store";
import { BendView } from "./views/bend";
import { closed } from "./views/closed";
import { dinhView } from "./views/dinh";
import { filesView } from "./views/files";
import { footerView } from "./views/footer";
import { gaugesView } from "./views/gauges";
import { guideView } from "./views/guide";
import { headerView, themeView } from "./views/header";
import { InvarianceView } from "./views/invariance";
import { keepView } from "./views/keep";
import { landscapeFigures, trainingFigures } from "./views/landscape-figures";
import { LayersView } from "./views/layers";
import { LookView } from "./views/look";
import { measureNoteView } from "./views/measure-note";
import { MeasuresView } from "./views/measures";
import { NetworksView } from "./views/networks";
import { openedView } from "./views/opened";
import { place, within } from "./views/place";
import { ReportView } from "./views/report";
import { samenessView } from "./views/sameness";
import { SpectrumView } from "./views/spectrum";
import { stageView } from "./views/stage";
import { statusView } from "./views/status";
import { tablesView } from "./views/tables";
import { tabsView } from "./views/tabs";
import { fillNetworks, readModelChoice, trainView } from "./views/train";
import { part } from "./views/train-form";
import { waysBackView } from "./views/ways-back";
import { glossaryView } from "./views/words";

declare global {
  interface Window {
    /** For trying out what a person cannot bring about by hand. */
    isoflatLab: { app: App; loseDevice: () => Promise<void>; crash: () => Promise<void>; kill: () => void };
  }
}

/** Parts that show more of the points than the stage does. */
const COMPUTED: ReadonlySet<string> = new Set(["measures", "layers", "dinh"]);

const store = new Store<State>(FIRST_STATE);

const { link, isLinked, isKept } = Address.opening();
// What takes longest to come is asked for first; it is drawn when the views are there.
const first = beginning(isLinked);
const app = new App(store, new Messages(place("messages")));
// Drawings that come later have nobody else to say that they did not.
window.addEventListener("vite:preloadError", ({ payload }) => app.messages.error(payload));
window.isoflatLab = { app, loseDevice: () => app.loseDevice(), crash: () => app.crash(), kill: () => app.kill() };

/** What parts are made of, by the first of them that is opened; those that are closed when there is time. */
const parts: Record<string, () => void> = {
  measures: () => new MeasuresView(app),
  // Its charts would take their time, and nobody sees them: it is made when it is opened, and not before.
  layers: () => {
    layers ??= new LayersView(app);
  },
  spectrum: () => new SpectrumView(app),
  check: () => new InvarianceView(app),
  dinh: () => dinhView(app),
  papers: () => tablesView(app),
  networks: () => {
    networks = new NetworksView(app);
  },
};
let layers: LayersView | undefined;
let networks: NetworksView | undefined;
const make = (part: string): void => {
  const made = parts[part];
  delete parts[part];
  made?.();
};
/** A page of its own, nearly: it comes when it is first opened. */
const spacesPart = later(() => import("./views/spaces"));
let spaces: Promise<{ redraw: () => void } | undefined> | undefined;
const openSpaces = (): void => {
  spaces ??= spacesPart()
    .then(({ spacesView }) => spacesView(app))
    .catch((error: unknown) => {
      spaces = undefined;
      app.messages.error(error);
      return undefined;
    });
};
/** So does what was run of the papers. */
const galleryPart = later(() => import("./views/gallery"));
let hasGallery = false;
const openGallery = async (): Promise<void> => {
  if (hasGallery) return;
  hasGallery = true;
  try {
    const { galleryView } = await galleryPart();
    galleryView(app, within(place("papers"))("div", "gallery"));
  } catch (error) {
    hasGallery = false;
    app.messages.error(error);
  }
};
/** Of what is there from the beginning. */
let views: { redraw: () => void; shown: () => void } | undefined;
/** Charts are drawn to fit their place, which a closed panel has not. */
const redraw = (): void => {
  views?.redraw();
  layers?.redraw();
  void spaces?.then((view) => view?.redraw());
};
const show = (tab: string): void => {
  make(tab);
  closed.opened(tab);
  redraw();
  views?.shown();
  if (COMPUTED.has(tab)) app.complete();
  if (tab === "networks") networks?.show();
  if (tab === "spaces") openSpaces();
  if (tab === "papers") void openGallery();
};

let tab = "";
tabsView((opened) => {
  tab = opened;
  if (views) show(tab);
});
// The words of the stage are in the page itself: they are read while the rest is made, which no press has to wait for.
await painted();
const tasks = new ShortTasks();
const run = <T>(make: () => T): Promise<T> => tasks.run(make);
// It is loaded beside what it is to draw, and its worker before that.
void import("./plots/landscape-drawing");
IsoflatLandscape.drawers = drawersInWorker;
drawersInWorker();
defineElements();
await run(glossaryView);
await run(() => measureNoteView(app));
await run(() => headerView(app));
const look = await run(() => new LookView(app, within(place("stage"))("div", "landscapes")));
await run(() => statusView(app));
const bend = await run(() => new BendView(app, look.cut));
const control = await run(() => stageView(app, () => tab));
await run(() => samenessView(app));
await run(() => gaugesView(app));
await run(fillNetworks);
const training = await run(() => trainView(app));
// Below it, and not before it: what is seen moves nowhere.
await run(() => footerView(app));
await run(() => waysBackView(app));
const report = await run(() => new ReportView(app));
await run(() => {
  const door = { button: part("button", "open-button"), input: part("input", "open-input") };
  filesView(app, door, openedView(app), report);
});
await run(() => keepView(app, report));
await run(() => landscapeFigures(app, look));
await run(() => trainingFigures(app, training));
const guide = await run(() => guideView(app, first, control));
views = {
  redraw: () => {
    training.redraw();
    look.redraw();
    bend.redraw();
  },
  shown: () => report.shown(),
};
themeView(() => {
  forgetColours();
  redraw();
});
show(tab);
// What the part that it opens computes before it is followed takes longer than a choice has to rest.
const passed = link ? app.passing() : () => {};
// A link says where the twin is to be: nothing else moves it.
const started = app.start(readModelChoice(), first, link ? async () => {} : guide);
const address = new Address(
  store,
  () => tab,
  (link, shown) => app.opener.link(link, shown),
);
void started.then(async (isLatest) => {
  // Files that have come before, say: to open another network now would end that.
  const isOvertaken = !isLatest && store.state.task === "starting";
  if (link && !isOvertaken && !isKept(await first)) void address.follow(link);
  // From here on it says itself how long it is on its way.
  passed();
});
address.begin();

// The stage comes first: it moves by now.
await started;
for (const part of Object.keys(parts)) {
  if (part === "layers") continue;
  await idle();
  make(part);
}
