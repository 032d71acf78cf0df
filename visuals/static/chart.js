// Charts by plotly.js: a figure that Python built, in the page's colours and language. The library is fetched with the
// first chart; zoom stays while a figure changes; what is clicked goes to the panel.

import { h } from "./dom.js";
import { ink } from "./draw.js";

/**
 * @typedef {Pick<import("./messages.d.ts").PlotlyFigure, "data" | "layout">} Figure
 *
 * @typedef {{ customdata: unknown[] }} Point what the figure says of a point
 *
 * @typedef {HTMLDivElement & {
 *   on: (event: string, act: (given: { points: Point[] }) => void) => void;
 * }} Plot
 *   an element in which plotly.js has drawn
 *
 * @typedef {{ width: number; height: number }} Size CSS pixels
 *
 * @typedef {{
 *   react: (plot: HTMLElement, data: object[], layout: object, config: object) => Promise<unknown>;
 *   relayout: (plot: HTMLElement, layout: object) => Promise<unknown>;
 *   animate: (plot: HTMLElement, frame: object, how: object) => Promise<unknown>;
 *   toImage: (plot: Element, how: object) => Promise<string>;
 * }} Plotly
 *   what the page uses of plotly.js
 */

const NEAR = "600px 0px"; // above and below the view

/** @type {Promise<Plotly> | null} */
let library = null;

/**
 * plotly.js, fetched once.
 *
 * @returns {Promise<Plotly>}
 */
function plotly() {
  library ??= new Promise((done, failed) => {
    const script = h("script", { src: window.glassConfig.plotly });
    script.addEventListener("load", () => done(window.Plotly));
    script.addEventListener("error", () => {
      library = null; // another chart may try again
      failed(new Error("plotly.js"));
    });
    document.head.append(script);
  });
  return library;
}

/**
 * @param {unknown} part
 * @param {(name: string) => string} colour
 * @param {(key: string) => string} text
 * @returns {unknown}
 */
function dressPart(part, colour, text) {
  if (typeof part === "string") {
    if (part.startsWith("var(--glass-")) return colour(part.slice("var(--glass-".length, -1));
    return part.startsWith("text:") ? text(part.slice("text:".length)) : part;
  }
  if (Array.isArray(part)) return part.map((one) => dressPart(one, colour, text));
  if (part === null || typeof part !== "object") return part;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, dressPart(value, colour, text)]));
}

/**
 * The figure with its colours and words: "var(--glass-q)" becomes the theme's colour, "text:section.name" the text.
 * Pure.
 *
 * @template Part
 * @param {Part} part
 * @param {(name: string) => string} colour
 * @param {(key: string) => string} text
 * @returns {Part}
 */
export const dressed = (part, colour, text) => /** @type {Part} */ (dressPart(part, colour, text));

const SAID = ["customdata", "hovertext"]; // of the points of a trace
const MOVING = ["x", "y", ...SAID]; // where they lie, too

/**
 * Whether from one figure to the next only points moved, and no axis follows them. Pure.
 *
 * @param {Figure} before
 * @param {Figure} after
 */
export function pointsMoved(before, after) {
  const alike = (/** @type {unknown} */ a, /** @type {unknown} */ b) => JSON.stringify(a) === JSON.stringify(b);
  if (before.data.length !== after.data.length || !alike(before.layout, after.layout)) return false;
  return after.data.every((trace, i) => {
    const [was, now] = /** @type {Record<string, unknown>[]} */ ([before.data[i], trace]);
    const others = Object.keys({ ...was, ...now }).filter((name) => !alike(was[name], now[name]));
    return others.every((name) => SAID.includes(name) || (MOVING.includes(name) && isSet(after, name)));
  });
}

/**
 * Whether the figure says itself how far an axis goes.
 *
 * @param {Figure} figure
 * @param {string} name of the axis
 */
function isSet({ layout }, name) {
  const axis = layout[`${name}axis`];
  return typeof axis === "object" && axis !== null && "range" in axis && Array.isArray(axis.range);
}

/** @param {object} trace */
const pointsOf = (trace) => Object.fromEntries(Object.entries(trace).filter(([name]) => MOVING.includes(name)));

const AT_ONCE = { mode: "immediate", transition: { duration: 0 }, frame: { duration: 0, redraw: false } };
const CONFIG = { displayModeBar: false, displaylogo: false };
const coarse = () => window.matchMedia?.("(pointer: coarse)").matches ?? false;

/**
 * A chart in a room, `.gp-chart`, whose height the panel's style sets. Plotly is told the room's size and measures
 * nothing itself: of a hidden room it would find its own default. The size comes from the browser's own layout, as
 * asking for it while a slider moves would make the browser lay the page out once more.
 *
 * @param {import("./types.d.ts").Glass} glass
 * @param {{ label: string; clicked?: (point: Point) => void }} how label: the key of its name
 * @returns {{ element: HTMLElement; draw: (figure: Figure, scene: string) => Promise<void> }} `scene` names what is
 *   drawn: while it stays, so does the reader's zoom
 */
export function createChart(glass, { label, clicked }) {
  const plot = h("div.gp-plot", { role: "img", "data-text-label": label });
  const element = h("div.gp-chart", null, plot);
  /** @type {Size | null} of the room; null where it has none, as in a chapter that is not shown */
  let size = null;
  /** @type {Size | null} that the chart has */
  let drawn = null;
  /** @type {string | null} of fonts, read once: reading a style, too, makes the browser bring all of them up to date */
  let family = null;
  /** @type {Figure | null} that was drawn last, in its colours and words */
  let shown = null;
  /** @type {Promise<unknown> | null} until the points that moved last are where they belong */
  let moving = null;
  let wanted = 0; // which call is the newest
  /** @type {(() => void)[]} who waits for the room to have a size */
  const entered = [];

  /**
   * Resolves once the room is in view, or nearly: to start plotly.js keeps the browser from everything else for
   * half a second or more, and nobody shall wait for a chart further down.
   *
   * @type {Promise<void>}
   */
  const near = new Promise((done) => {
    const seen = new IntersectionObserver(
      (places) => {
        if (!places.some(({ isIntersecting }) => isIntersecting)) return;
        seen.disconnect();
        done();
      },
      { rootMargin: NEAR },
    );
    seen.observe(element);
  });
  /**
   * Resolves once the room has a size.
   *
   * @returns {Promise<void>}
   */
  const sized = () => new Promise((done) => (size ? done() : entered.push(done)));
  function follow() {
    const room = size;
    if (!room) return;
    for (const done of entered.splice(0)) done();
    if (!drawn || (drawn.width === room.width && drawn.height === room.height)) return;
    drawn = room;
    library?.then((Plotly) => Plotly.relayout(plot, room));
  }
  new ResizeObserver(([{ contentRect }]) => {
    const [width, height] = [Math.round(contentRect.width), Math.round(contentRect.height)];
    size = width && height ? { width, height } : null;
    follow();
  }).observe(element);

  /**
   * @param {Figure} figure
   * @param {string} scene
   */
  async function draw(figure, scene) {
    const mine = (wanted += 1);
    await near;
    if (mine !== wanted) return;
    const Plotly = await plotly();
    await sized();
    if (mine !== wanted) return;
    const { colour } = ink();
    const { data, layout } = dressed(figure, colour, glass.text);
    family ??= getComputedStyle(element).fontFamily;
    const font = { .../** @type {object | undefined} */ (layout.font), family };
    const held = { ...layout, ...size, font, uirevision: scene, dragmode: coarse() ? false : "zoom" };
    await moving; // what plotly has not done yet, it would do after what is asked now
    if (mine !== wanted) return;
    const before = shown;
    shown = structuredClone({ data, layout: held }); // plotly writes into what it is given
    if (before && pointsMoved(before, shown)) {
      // axes that stand still need not be drawn again: they take most of a whole drawing
      moving = Plotly.animate(plot, { data: data.map(pointsOf), traces: [...data.keys()] }, AT_ONCE);
      await moving;
      return;
    }
    await Plotly.react(plot, data, held, CONFIG);
    const first = !drawn;
    drawn = size;
    follow(); // the room may have changed meanwhile
    if (first) /** @type {Plot} */ (plot).on("plotly_click", ({ points }) => clicked?.(points[0]));
  }
  return { element, draw };
}
