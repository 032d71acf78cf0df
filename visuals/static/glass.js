// The page's script: builds `window.glass`, which the bus publishes to and every panel draws from.

import { addressOf } from "./addresses.js";
import { reader } from "./prefetch.js";
import { createChanged } from "./changed.js";
import { createChapters } from "./chapters.js";
import { watchConnection } from "./connection.js";
import { h } from "./dom.js";
import { createFolds } from "./folds.js";
import { magnify } from "./draw.js";
import { createFetching } from "./fetching.js";
import { panelOf } from "./frame.js";
import { offerGlossary } from "./glossary/offer.js";
import { listenToKeys } from "./keys.js";
import { followLoading } from "./loading.js";
import { keepHistory } from "./history.js";
import { isStory, offerLevels } from "./level.js";
import { offerLessons } from "./lessons/offer.js";
import { outside, readLink } from "./link.js";
import { heedMoves } from "./late.js";
import { firstPrompt, openLink } from "./opening.js";
import { isChanged } from "./off.js";
import { createPace } from "./reading-speed.js";
import { createPage } from "./page.js";
import { DUE } from "./pointing.js";
import { followBar } from "./sampling.js";
import { createSettings } from "./settings.js";
import { withSides } from "./sides.js";
import { keepPlace } from "./reading-place.js";
import { createRealModel, offerRealModel } from "./real-model.js";
import { listenToPointer, still } from "./pointer-rest.js";
import { hold } from "./scroll-anchor.js";
import { keepSliders } from "./sliders.js";
import { createStore } from "./store.js";
import { createTexts } from "./texts.js";
import { LOST } from "./unanswered.js";
import { createWayBack } from "./return-to.js";
import { noting } from "./withheld.js";

const config = window.glassConfig;
const [FIRST] = Object.keys(config.chapters);
const store = createStore();
const texts = createTexts(config.texts, config.textsOnDemand);
const link = readLink(location.hash);
const settings = createSettings(store, link.settings);
const page = createPage(store, texts, link, settings, config);
const pace = createPace(store, settings, {
  cut: async (request) => (await online).cut(request),
  setStatus: page.setStatus,
});
const folds = createFolds(store, settings, texts, config.chapters);
const chapters = createChapters(store, texts, folds, link.chapter, config);
/** @param {HTMLElement} element */
page.parts.panels = (element) => {
  /** @type {(selector: string) => HTMLElement} */
  const part = (selector) => /** @type {HTMLElement} */ (element.querySelector(selector)); // of app/panels.py
  chapters.attach(part("nav"));
  mountStory(part(".page-story"));
  followWritten(part(".page-written"));
  for (const section of element.querySelectorAll("section")) mount(section.dataset.kind ?? "", section);
};
const { state } = store;
// Named here, they come together, while gradio builds its controls.
if (!isStory(state.chapter))
  document.head.append(...config.benchModules.map((href) => h("link", { rel: "modulepreload", href })));

/**
 * @typedef {import("./decode.js").Trace} Trace
 *
 * @typedef {import("./painting.js").Painter} Painter
 *
 * @typedef {import("./types.d.ts").Fetching} Fetching
 *
 * @typedef {import("./types.d.ts").Glass} Glass
 */

/**
 * The text that was written, once there is some: what shows it comes with the first.
 *
 * @param {HTMLElement} place
 */
function followWritten(place) {
  /** @param {Trace} run */
  const look = async ({ generating, T, nPrompt }) => {
    if (!generating && T === nPrompt) return;
    stop();
    const [{ showWritten }, { createChosen }] = await Promise.all([
      import("./written.js"),
      import("./panels/glance/chosen.js"),
    ]);
    showWritten(place, glass, pace, [createChosen(glass)]);
  };
  const stop = store.on("run", look);
  if (state.run) look(state.run);
}

/**
 * Draws one panel, and says in its place what went wrong, so that one panel never takes the others down.
 *
 * @param {string} kind
 * @param {HTMLElement} element
 * @param {() => (() => void) | void} draw what it returns is to be called when the other panels have drawn, too
 * @returns {(() => void) | undefined}
 */
function guarded(kind, element, draw) {
  try {
    const rest = noting(element, draw);
    delete element.dataset.failed;
    return rest ? () => void guarded(kind, element, rest) : undefined;
  } catch (error) {
    console.error(`panel ${kind}:`, error);
    element.dataset.failed = texts.text("page.panel_failed");
    return undefined;
  }
}

/**
 * The stories, which are built when one is first opened, and drawn while it is open.
 *
 * @param {HTMLElement} place
 */
function mountStory(place) {
  /** @type {((fresh: boolean) => void) | null} */
  let draw = null;
  store.watch((fresh) => {
    const drawing = draw;
    if (!isStory(state.chapter) || !state.trace || !drawing) return undefined;
    return guarded("story", place, () => drawing(fresh));
  });
  const build = async () => {
    if (!isStory(state.chapter)) return;
    stop();
    const { default: createStories } = await import("./story/story.js");
    draw = createStories(place, window.glass, texts.need);
    store.repaint(true);
  };
  const stop = store.on("chapter", build);
  build();
}

/**
 * Hands a section to its drawing function and keeps it in step with the store for as long as it is on the page.
 *
 * @param {string} kind
 * @param {HTMLElement} element
 */
async function mount(kind, element) {
  element.tabIndex = -1; // so that a click into it gives it the keys (keys.js)
  await chapters.opened(kind);
  element.toggleAttribute("data-fetching", true);
  /**
   * @type {[
   *   { default: (element: HTMLElement, glass: Glass) => Painter; about?: import("./frame.js").About },
   *   void,
   * ]}
   */
  const [{ default: build, about = {} }] = await Promise.all([
    import(addressOf(chapters.pathOf(kind))),
    texts.need(kind),
  ]);
  element.toggleAttribute("data-fetching", false);
  const draw = withSides(kind, element, window.glass, build(element, window.glass), about);
  panelOf(element)?.list(about.tensors);
  if (about.tensors || config.coded.includes(kind)) panelOf(element)?.offerCode(about.tensors ?? []);
  const nameChanges = createChanged(element, window.glass, about);
  texts.translate(element);
  /** @type {NodeListOf<HTMLElement>} */
  const parts = element.querySelectorAll(".gp-head, .gp-body, .gp-formula");
  still(...parts);
  /** @type {(fresh: boolean) => (() => void) | undefined} */
  const paint = (fresh) => {
    if (!element.isConnected) return void store.unwatch(paint);
    element.toggleAttribute("data-waiting", !state.trace);
    element.toggleAttribute("data-loading", Boolean(state.trace) && !store.layer());
    if (!state.trace || !chapters.shows(kind)) return undefined;
    nameChanges(state.trace);
    const none = Boolean(about.only && !about.only(state.trace.model));
    element.toggleAttribute("data-none", none);
    if (none) return undefined;
    panelOf(element)?.speak(about.forms?.(state.trace.model, state.layer) ?? []);
    const lacking = about.absent?.(state.trace.model, state.layer) ?? null;
    if (lacking || element.hasAttribute("data-absent")) panelOf(element)?.lack(lacking, state.trace.model);
    if (lacking) return undefined;
    const rest = guarded(kind, element, () => draw(fresh));
    panelOf(element)?.withheld();
    return rest;
  };
  store.watch(paint);
  paint(true)?.();
  const again = () => paint(false)?.();
  element.addEventListener(DUE, again);
  new ResizeObserver(again).observe(element);
}

const nameTab = () => {
  document.title = texts.text("page.title");
};
store.on("run", nameTab); // gradio gives the tab a name of its own when it is there

/**
 * @param {string} code "en" or "zh"
 * @returns {Promise<{ language: string } | undefined>} what the bar is to show where the words did not come
 */
async function setLanguage(code) {
  if (!(await texts.load(code).catch(() => store.emit("message", LOST)))) {
    return { language: state.language };
  }
  state.language = code;
  document.documentElement.dataset.language = code;
  document.documentElement.lang = code === "zh" ? "zh-CN" : code;
  nameTab();
  texts.translate(document);
  store.emit("language", code);
  store.repaint(true);
  return undefined;
}

const { on, publish, preview, endPreview, select, selectByPage, chosen, repaint, drawn, unfinished, layer } = store;
const { text, translate, need } = texts;
/**
 * Only the story and the first chapter can be read with what a run brings along: till somebody is there, or in
 * another, nothing is fetched ahead.
 */
const there =
  isStory(state.chapter) || state.chapter === FIRST
    ? Promise.race([
        reader(),
        new Promise((done) => {
          on("chapter", done);
        }),
      ])
    : Promise.resolve();
/** @type {Fetching | null} */
let fetching = null;
/** @type {(fetching: Fetching) => void} */
let connected = () => {};
/** @type {Promise<Fetching>} */
const online = new Promise((done) => {
  connected = done;
});
/**
 * The server's functions are there: the first run is asked for at once, while gradio is still building its
 * controls.
 *
 * @type {Glass["connect"]}
 */
async function connect(server, changeBar) {
  page.onFill(changeBar);
  fetching = createFetching(store, server, there);
  connected(fetching);
  await firstRun(fetching);
}
/** @param {Pick<Fetching, "recall">} server */
async function firstRun({ recall }) {
  for (const message of await page.first(recall)) publish(message);
}
/**
 * What a chapter asks about the run: the answer to one of app/chapters' DETAILS, or null until it has come.
 *
 * @type {Fetching["detail"]}
 */
const detail = (what, params, trace) => fetching?.detail(what, params, trace) ?? null;
/**
 * One layer of a run that is compared, or null until it has come.
 *
 * @type {Fetching["layerOf"]}
 */
const layerOf = (trace, layer) => fetching?.layerOf(trace, layer) ?? null;
/**
 * The pointer is on what leads to a layer, without a preview of it.
 *
 * @type {Fetching["expect"]}
 */
const expect = (layer) => fetching?.expect(layer);
/**
 * What needs no run: a promise of the answer of one of app/chapters' CALCULATORS, or of what went wrong.
 *
 * @type {Fetching["calculate"]}
 */
const calculate = async (what, params) => (await online).calculate(what, params);
/** What was asked without a run. */
const calculations = () => fetching?.calculations() ?? [];
/** @type {Glass["oneFile"]} */
async function oneFile(lesson) {
  const { viewsOf } = await import("./one-file/request.js");
  const shown = async () => ({ hash: await address(), views: viewsOf(glass), calculations: calculations() });
  return (await online).oneFile(lesson ?? (await shown()));
}
/** How many questions to the server have no answer yet. */
const asking = () => fetching?.asking() ?? 0;
const { open, present, reveal } = chapters;
const { keep, showSide, sides, subtractable, toEnd } = store;
/**
 * Runs the shown tokens once more with something changed (app/comparing.py).
 *
 * @type {Glass["change"]}
 */
const change = async (changes) => {
  const { run } = state;
  if (!run || !fetching) return;
  const mine = awaiting({ prompt: run.prompt, model: run.model.name, act: "change" });
  await fetching.change(changes);
  if (state.awaited !== mine) return;
  store.awaitRun(null); // it was refused, which is said
  page.setStatus("idle");
};
/**
 * Something is asked for past the bar.
 *
 * @param {import("./awaited.js").Awaited} awaited
 */
function awaiting(awaited) {
  store.awaitRun(awaited);
  page.setStatus("running");
  return awaited;
}
/**
 * Runs a prompt past the bar, which then shows it.
 *
 * @param {string} prompt
 * @param {string | undefined} model
 * @param {{ layer?: number; changed?: import("./types.d.ts").Changed }} [how] `layer` that is to be shown: where
 *   none is named the server says where to start; `changed`: what is changed in it
 */
async function runPrompt(prompt, model, { layer, changed = { changes: {} } } = {}) {
  store.emit("begin");
  const mine = awaiting({ prompt, model: model ?? null, act: "read" });
  const { recall } = await online;
  const { source = null } = changed;
  const changes = source ? { ...changed.changes, source: source.id } : changed.changes;
  const answer = await recall({ prompt, model, generated: [], changes, layer }).catch(() => LOST);
  if (state.awaited !== mine) return; // something else was asked for since
  store.publish(answer.kind === "run" ? { ...answer, source } : answer);
  if (answer.kind === "run") page.fill({ prompt, model });
}
/**
 * Has the network that is shown, or another that is named, read a text.
 *
 * @param {string} prompt
 * @param {string} [model]
 * @param {import("./types.d.ts").Changed} [changed] what is changed in its run
 */
const read = (prompt, model = state.run?.model.name, changed = undefined) => runPrompt(prompt, model, { changed });
/**
 * Has another network read the prompt of A, which is what is shown where none is kept: that run is B.
 *
 * @param {string} model
 */
async function readBy(model) {
  const first = state.kept ?? state.run;
  if (!first) return;
  if (!state.kept) keep(first);
  await runPrompt(first.prompt, model, { layer: state.locked.layer });
}
/** Shows A again, in every panel and in the bar: what is run next is read by its network. */
function showKept() {
  if (!state.kept) return;
  const { prompt, model } = state.kept;
  showSide("A");
  page.fill({ prompt, model: model.name });
}
/**
 * Has panels read one of a network's two stacks, and something of it.
 *
 * @type {Glass["readStack"]}
 */
function readStack(stack, selection = {}) {
  if (state.run?.encoder) settings.set("run", { stack: stack === "encoder" ? stack : "" });
  select(selection);
}
const followStack = () => store.showStack(settings.get("run").stack === "encoder" ? "encoder" : "decoder");
/**
 * Has everything drawn for a page that the browser shows that much larger.
 *
 * @type {Glass["enlarge"]}
 */
const enlarge = (factor, room, letters) => {
  magnify(factor, room, letters);
  repaint();
};
/**
 * A panel that is shown, as an SVG file with a brief heading.
 *
 * @type {Glass["picture"]}
 */
async function picture(kind) {
  const { asPage, pictureOf } = await import("./picture.js");
  const panel = panelOf(/** @type {HTMLElement} */ (document.querySelector(`section[data-kind="${kind}"]`)));
  return panel ? (await pictureOf(panel, window.glass, asPage, true)).text : "";
}
const core = {
  keep,
  showSide,
  sides,
  subtractable,
  toEnd,
  change,
  read,
  readBy,
  showKept,
  layerOf,
  expect,
  open,
  present,
  reveal,
  enlarge,
  picture,
  visit,
  detail,
  calculate,
  calculations,
  oneFile,
  asking,
  settings,
  readStack,
  state,
  on,
  preview,
  endPreview,
  select,
  selectByPage,
  chosen,
  repaint,
  drawn,
  unfinished,
  layer,
  mount,
  text,
  translate,
  need,
  setLanguage,
};
const way = createWayBack(core);
const real = createRealModel(calculate, page, repaint);
followLoading(store, calculate, () => link.model, page.bundledModel);
/** For Stop: the text ends where it is shown. */
const halt = () => {
  pace.stop();
  return page.view();
};

/** The server is back: fetches what is missing, and has what was written run as it stands. */
async function goOn() {
  const { run: trace } = state;
  if (!fetching) return undefined;
  if (!trace) return firstRun(fetching);
  if (!trace.generating && trace.steps.length > trace.T - trace.nPrompt) return fetching.whole(trace);
  return fetching.again();
}
const connection = watchConnection(store, goOn);

/**
 * Brings the panel into view that an address leads to, if any, once the run is there.
 *
 * @param {ReturnType<typeof readLink>} described
 */
async function leadIn(described) {
  const kind = chapters.meet(described);
  if (!kind || state.presenting) return;
  if (!state.trace)
    await new Promise((done) => {
      const stop = on("run", () => (stop(), done(undefined)));
    });
  const section = document.querySelector(`.page-body section[data-kind="${kind}"]`);
  if (section) hold(() => section.scrollIntoView({ block: "start", behavior: "instant" }));
}

/** What an address leaves out where a reader has chosen none. */
const UNCHOSEN = { pair: null, neuron: null };

/**
 * Shows what an address describes, in place of what is shown.
 *
 * @param {string} hash
 */
async function bring(hash) {
  const described = readLink(hash);
  settings.restore(described.settings);
  open(described.chapter ?? chapters.usual());
  leadIn(described);
  const mine = awaiting({ prompt: null, model: null, named: described.model, act: "read" });
  store.pin({ ...UNCHOSEN, ...described.selection }, !isStory(state.chapter));
  store.keep(null);
  const server = await online;
  const { messages, asked } = await openLink(
    described,
    firstPrompt(config, described.model, state.language),
    server.recall,
  );
  if (state.awaited !== mine) return; // something else was asked for since
  for (const message of messages) publish(message);
  page.fill({ prompt: described.prompt ?? asked.prompt, model: state.trace?.model.name });
  if (!described.runs || asked.prompt !== described.prompt) return;
  const { restore } = await import("./restore.js");
  await restore(hash, store, server);
}

/**
 * As `bring`; where the run that it describes is the one that is shown, nothing is asked.
 *
 * @param {string} hash
 */
async function visit(hash) {
  const described = readLink(hash);
  const { run: trace, kept } = state;
  const plain = trace && !kept && !described.runs && !isChanged(trace) && described.selection.layer !== undefined;
  const same =
    plain &&
    described.prompt === trace.prompt &&
    (described.model ?? trace.model.name) === trace.model.name &&
    described.generated.join() === trace.tokens.ids.slice(trace.nPrompt).join() &&
    !outside(described, trace).length;
  if (!same) return bring(hash);
  settings.restore(described.settings);
  open(described.chapter ?? chapters.usual());
  leadIn(described);
  store.endPreview();
  select({ ...UNCHOSEN, ...described.selection });
}

/**
 * Once the link's prompt has run, brings back its changes and the run kept as A.
 *
 * @param {string} hash
 */
function bringBack(hash) {
  const stop = store.on("run", async ({ prompt }) => {
    stop();
    if (link.prompt !== undefined && link.prompt !== prompt) return; // that prompt could not be run; this is another
    const { restore } = await import("./restore.js");
    await restore(hash, store, await online);
  });
}

store.pin(link.selection, !isStory(state.chapter)); // a story tells of places of its own
leadIn(link);
if (link.runs) bringBack(location.hash);
const { address, entryAgain } = keepHistory(store, {
  open,
  bring,
  fill: page.fill,
  settings,
  stop: () => /** @type {HTMLElement | null} */ (document.querySelector("#stop"))?.click(),
  follow: async () => {
    if (config.files || (await connection.answers())) return location.reload();
    return publish(LOST);
  },
});
/** @type {import("./types.d.ts").Glass} */
const glass = Object.assign(core, {
  way,
  real,
  link,
  connect,
  pace,
  halt,
  address,
  entryAgain,
  ...page,
  publish: pace.take,
});
window.glass = glass;
keepPlace();
const levels = offerLevels(glass, FIRST);
const { header } = page.parts;
page.parts.header = (/** @type {HTMLElement} */ element) => {
  header(element);
  levels.mark();
};
followBar(store, settings);
followStack();
store.on("settings", (name) => {
  if (name === "run") followStack();
  store.repaint();
});
listenToKeys(store, texts);
heedMoves(document);
keepSliders(document);
listenToPointer(store);
offerLessons(glass, location.hash);
offerGlossary(glass);
offerRealModel(glass);
const wanted = link.language ?? (navigator.language?.startsWith("zh") ? "zh" : "en");
await setLanguage(Object.hasOwn(config.texts, wanted) ? wanted : "en");
window.glassLoaded(glass);
