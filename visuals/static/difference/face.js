// What a panel shows for B − A: the same reading of both runs, subtracted, in the place of the panel's own drawing.

import { h, sample } from "../dom.js";
import { panelOf } from "../frame.js";
import { hindrance } from "../hindrance.js";
import { createMemory } from "../marks/runs.js";
import { inView, widthOf } from "../pointing.js";
import { fromReading } from "./from-reading.js";
import { createParts } from "./part-places.js";
import { joined, selectedRows } from "./saved.js";
import { numbersOf, selectionOf, valueLine } from "./value-line.js";

/**
 * @typedef {{ elements: HTMLElement[]; show: (a: Run, b: Run) => void }} Controls what the panel can be set to,
 *   over the parts
 *
 * @typedef {import("../marks/runs.js").Run} Run
 *
 * @typedef {import("./saved.js").Rows} Rows
 *
 * @typedef {import("../readings/reading.js").Questions} Questions a run, and its parameters
 *
 * @typedef {{
 *   element: HTMLElement;
 *   draw: (a: Run, b: Run, width: number, fresh: boolean) => void;
 *   absent?: (run: Run) => boolean;
 *   same: () => boolean;
 *   csv?: () => Rows;
 *   called?: string;
 *   pointed?: () => number | null;
 *   needs?: string[];
 *   wide?: boolean;
 * }} Part
 *   `same`: whether the two runs do not differ at all in what was drawn last; a line then stands in its place;
 *   `needs`: which of the details that come `later` it cannot be drawn without; `absent`: where a run has nothing
 *   of the kind; `wide`: takes the panel's whole width; `csv`: what it shows, of which the file names it `called`;
 *   left out where another part shows the same numbers
 *
 * @typedef {{
 *   layer?: boolean;
 *   neurons?: boolean;
 *   anyLength?: boolean;
 *   details?: (glass: import("../types.d.ts").Glass, sides: { A: object; B: object }) => Questions;
 *   later?: (glass: import("../types.d.ts").Glass, sides: { A: object; B: object }) => Questions;
 *   lacks?: (glass: import("../types.d.ts").Glass, sides: { A: object; B: object }) => string | null;
 *   named?: (glass: import("../types.d.ts").Glass, text: Function) => object;
 *   controls?: (glass: import("../types.d.ts").Glass) => Controls;
 *   without?: string;
 *   note?: string;
 *   about?: (a: Run, b: Run, state: object, text: Function) => string;
 *   beside?: boolean;
 *   at: (state: object, glass: import("../types.d.ts").Glass, chosen: any, b: Run) => string;
 *   choose?: (state: object, a: Run, b: Run, pointed: number | null, glass: import("../types.d.ts").Glass) => any;
 *   numbers: (
 *     run: Run,
 *     state: object,
 *     glass: import("../types.d.ts").Glass,
 *     chosen: any,
 *   ) => Object<string, number>;
 *   of?: (about: {
 *     text: Function;
 *     named: object;
 *     chosen: any;
 *     a: Run;
 *     b: Run;
 *     state: object;
 *     glass: import("../types.d.ts").Glass;
 *   }) => string;
 *   between?: (a: Run, b: Run, state: object) => Object<string, number>;
 *   said?: string[] | ((run: Run, state: object, glass: import("../types.d.ts").Glass) => string[]);
 *   worded?: string[];
 *   words?: (run: Run) => object;
 *   parts: (glass: import("../types.d.ts").Glass, text: Function) => Part[];
 * }} View
 *   `details`: what the server is asked about each run; `later`: what the panel does not wait for, null in `Run`
 *   until it is here; `lacks`: what else is missing, in words; `named`: more parameters of the title; `without`: a
 *   text that says which of the panel's own controls B − A has no use for, and why; `note`: a text under the parts;
 *   `about`: a line over them that is made of both runs; `beside`: what follows the first part stands at its right
 *   where there is room; `choose`: what the selection leaves open, such as the neuron where none is selected;
 *   `numbers`: the value line, of which `said` are read out (all where it is left out) and `worded` have words of
 *   their own, number_<name>; `words`: parameters of their names; `of`: what the value line is about, in words,
 *   where the panel's title does not say it, of `named` as titles have it; `between`: numbers before them that no
 *   subtraction of numbers gives
 */

let styled = false;
function fetchStyle() {
  if (styled) return;
  styled = true;
  document.head.append(h("link", { rel: "stylesheet", href: new URL("style.css", import.meta.url).href }));
}

/**
 * @param {string} kind
 * @param {HTMLElement} element
 * @param {import("../types.d.ts").Glass} glass
 * @param {(fresh: boolean) => (() => void) | void} plain
 * @param {import("../frame.js").About} about
 * @returns {Promise<{ draw: (fresh: boolean) => void; hide: () => void }>}
 */
export async function createFace(kind, element, glass, plain, { difference, unused }) {
  fetchStyle();
  if (!difference) return withoutDifference(kind, element, glass, plain);
  if (typeof difference !== "string") return withDifference(kind, element, glass, fromReading(difference), unused);
  const { default: views } = await import(`./${difference}.js`);
  return withDifference(kind, element, glass, views[kind], unused);
}

/** The panel as it is for B, under a line that says why. */
function withoutDifference(kind, element, glass, plain) {
  const note = h("p.gp-note.mn-none", { "data-text": `sides.none_${kind}` });
  note.textContent = glass.text(note.dataset.text);
  panelOf(element).body.before(note);
  function draw(fresh) {
    element.dataset.side = "B";
    note.hidden = false;
    return plain(fresh);
  }
  return {
    draw,
    hide: () => {
      note.hidden = true;
    },
  };
}

/**
 * What is around the parts: the view's own controls, the legend, a line about both runs, and why there is nothing.
 *
 * @param {View} view
 * @param {HTMLElement[]} places of its parts
 * @param {HTMLElement[]} controls what it can be set to
 */
function createBody(view, places, controls) {
  const key = h(
    "div.gp-samples.mn-key",
    null,
    ...["less", "more"].map((name) => sample(`span.gp-swatch.mn-${name}`, `b_minus_a.${name}`)),
  );
  const note = h("p.gp-note.mn-reason", { role: "status" });
  const about = h("p.gp-note");
  const foot = view.note ? [h("p.gp-note", { "data-text": view.note })] : [];
  const bar = controls.length ? [h("div.mn-controls", null, ...controls)] : [];
  if (view.without) bar.push(h("p.gp-note", { "data-text": view.without }));
  const inner = h(view.beside ? "div.mn-beside" : "div", null, ...bar, key, about, ...places, ...foot);
  return { element: h("div.mn-body", { hidden: "" }, note, inner), inner, note, key, about };
}

/**
 * What one run holds of what is read; null until all of it is here.
 *
 * @param {View} view
 * @param {import("../types.d.ts").Glass} glass
 * @param {object} trace
 * @param {{ asked: Questions; later: Questions }} questions of both runs; `later`: what is not waited for
 * @returns {Run | null}
 */
function runOf(view, glass, trace, { asked, later }) {
  const { layer, query } = glass.state;
  const held = trace.layers.get(layer) ?? null;
  const neurons = (view.neurons && held?.neurons.get(query)) || null;
  const answersTo = (questions) =>
    Object.entries(questions).map(([name, [what, params]]) => [name, glass.detail(what, params, trace)]);
  const answers = answersTo(asked);
  const details = Object.fromEntries([...answers, ...answersTo(later)]);
  const here = (held || !view.layer) && (neurons || !view.neurons) && answers.every(([, answer]) => answer);
  return here ? { trace, layer, held, neurons, details } : null;
}

/**
 * B − A in the place of the panel's own drawing.
 *
 * @param {string} kind
 * @param {HTMLElement} element
 * @param {import("../types.d.ts").Glass} glass
 * @param {View} view
 * @param {import("../frame.js").About["unused"]} unused
 */
function withDifference(kind, element, glass, view, unused) {
  const { state } = glass;
  const panel = panelOf(element);
  const text = (name, params) => glass.text(panel.formed(`b_minus_a.${name}`), params);
  const parts = createParts(view.parts(glass, text), glass, unused);
  const controls = view.controls?.(glass);
  const body = createBody(view, parts.places, controls?.elements ?? []);
  panel.body.after(body.element);
  glass.translate(body.element);
  const wide = widthOf(body.element, glass);
  const remembered = createMemory();
  /** @type {Run[] | null} what is drawn; null while something of it is missing */
  let both = null;
  let chosen = null;

  /** Everything that is shown: the value line's numbers, then part by part. */
  function csv() {
    if (!both) return [];
    const { first, second, between } = numbersOf(view, both, glass, chosen);
    const selected = selectedRows(view.at(state, glass, chosen, both[1]), first, second, between);
    return joined([["selected", selected], ...parts.rows(both)]);
  }

  /** Says why there is nothing to subtract, or that it is on its way. */
  function say(reason, { A, B }) {
    body.note.textContent = reason ? glass.text(`sides.${reason}`, { a: A.T, b: B.T }) : "";
    body.inner.hidden = ["models", "masks", "parts", "lengths"].includes(reason);
    if (body.inner.hidden) panel.tell("", "");
  }

  /**
   * Draws the parts, and says what they show.
   *
   * @param {Run[]} runs A and B
   */
  function show(runs, width, fresh) {
    const [a, b] = runs;
    controls?.show(a, b);
    parts.draw(runs, width, fresh);
    body.key.hidden = parts.markSame(runs);
    body.about.textContent = (!body.key.hidden && view.about?.(a, b, state, text)) || "";
    const pointed = parts.pointed(b);
    chosen = view.choose?.(state, a, b, pointed, glass) ?? pointed;
    const { value, words } = valueLine(view, runs, glass, chosen, text);
    panel.tell(value, words);
  }

  const paint = inView(
    element,
    function draw(fresh) {
      const sides = glass.sides();
      if (!sides) return;
      panel.title.textContent = text(`title_${kind}`, { ...selectionOf(state), ...view.named?.(glass, text) });
      const reason = hindrance(sides);
      both = null;
      if (reason === "models" || (reason && !view.anyLength)) return say(reason, sides);
      const questions = { asked: view.details?.(glass, sides) ?? {}, later: view.later?.(glass, sides) ?? {} };
      const found = [sides.A, sides.B].map((trace) => runOf(view, glass, trace, questions));
      const width = wide();
      const lack = view.lacks?.(glass, sides) ?? null;
      const waiting = found.includes(null) || lack !== null;
      element.classList.toggle("is-coming", waiting);
      say(waiting ? "waiting" : reason && "ends", sides);
      if (lack !== null) body.note.textContent = lack;
      if (waiting || width === 0) return;
      both = remembered(found);
      show(both, width, fresh);
    },
    "B-A",
  );

  function hide() {
    if (body.element.hidden) return;
    body.element.hidden = true;
    panel.body.hidden = false;
    panel.instead = undefined;
    element.classList.remove("is-coming");
  }
  function draw(fresh) {
    const first = body.element.hidden;
    body.element.hidden = false;
    panel.body.hidden = true;
    panel.instead = { csv };
    paint(fresh || first);
  }
  return { draw, hide };
}
