// What a panel shows for B − A: the same reading of both runs, subtracted, in the place of the panel's own drawing.

import { addressOf } from "../addresses.js";
import { h, sample } from "../dom.js";
import { panelOf } from "../frame.js";
import { hindrance } from "../hindrance.js";
import { createMemory } from "../marks/runs.js";
import { inView, widthOf } from "../pointing.js";
import { answersTo, shownIn } from "../run-for.js";
import { fromReading } from "./from-reading.js";
import { createParts } from "./part-places.js";
import { joined, selectedRows } from "./saved.js";
import { numbersOf, selectionOf, valueLine } from "./value-line.js";

/**
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {import("../types.d.ts").Shown} State
 *
 * @typedef {import("../types.d.ts").Say} Say
 *
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {{ A: Trace; B: Trace }} Sides
 *
 * @typedef {import("./saved.js").Rows} Rows
 *
 * @typedef {import("../readings/reading.js").Questions} Questions a run, and its parameters
 */

/**
 * One run, its selected layer, and what the server was asked about it.
 *
 * @typedef {object} Run
 * @property {Trace} trace
 * @property {number} layer
 * @property {import("../decode.js").Layer | null} held
 * @property {import("../readings/reading.js").Run["details"]} details
 *
 * @typedef {Run & { held: import("../decode.js").Layer }} LayerRun of a view that needs the `layer`
 */

/**
 * What the panel can be set to, over the parts.
 *
 * @template {Run} [Of=Run]
 * @typedef {{ elements: HTMLElement[]; show: (a: Of, b: Of) => void }} Controls
 */

/**
 * @template {Run} [Of=Run]
 * @typedef {object} Part
 * @property {HTMLElement} element
 * @property {(a: Of, b: Of, width: number, fresh: boolean) => void} draw
 * @property {() => boolean} same whether the two runs do not differ at all in what was drawn last; a line then
 *   stands in its place
 * @property {(run: Of) => boolean} [absent] where a run has nothing of the kind
 * @property {() => Rows} [csv] what it shows; left out where another part shows the same numbers
 * @property {string} [called] how the file names that
 * @property {() => number | null} [pointed]
 * @property {string[]} [needs] which of the details that come `later` it cannot be drawn without
 * @property {boolean} [wide] takes the panel's whole width
 */

/**
 * What the value line is about.
 *
 * @template {Run} [Of=Run]
 * @template [Chosen=number | null]
 * @typedef {object} About
 * @property {Say} text
 * @property {ReturnType<typeof selectionOf>} named as titles have it
 * @property {Chosen} chosen
 * @property {Of} a
 * @property {Of} b
 * @property {State} state
 * @property {Glass} glass
 */

/**
 * `Chosen` is what the selection leaves open, such as the neuron where none is selected.
 *
 * @template {Run} [Of=Run]
 * @template [Chosen=number | null]
 * @typedef {object} View
 * @property {boolean} [layer] whether it needs the layer
 * @property {boolean} [neurons] and the token's neurons
 * @property {boolean} [anyLength] whether runs of two lengths are compared
 * @property {(glass: Glass, sides: Sides) => Questions} [details] what the server is asked about each run
 * @property {(glass: Glass, sides: Sides) => Questions} [later] what the panel does not wait for, null in `Run`
 *   until it is here
 * @property {(glass: Glass, sides: Sides) => string | null} [lacks] what else is missing, in words
 * @property {(glass: Glass, text: Say) => object} [named] more parameters of the title
 * @property {(glass: Glass) => Controls<Of>} [controls]
 * @property {string} [without] a text that says which of the panel's own controls B − A has no use for, and why
 * @property {string} [note] a text under the parts
 * @property {(a: Of, b: Of, state: State, text: Say, glass: Glass) => string} [about] a line over them that is made
 *   of both runs
 * @property {boolean} [beside] what follows the first part stands at its right where there is room
 * @property {(state: State, glass: Glass, chosen: Chosen, b: Of) => string} at
 * @property {(state: State, a: Of, b: Of, pointed: number | null, glass: Glass) => Chosen} [choose] else it is what
 *   is pointed to
 * @property {(run: Of, state: State, glass: Glass, chosen: Chosen) => Object<string, number>} numbers the value
 *   line
 * @property {(about: About<Of, Chosen>) => string} [of] what the value line is about, in words, where the panel's
 *   title does not say it
 * @property {(a: Of, b: Of, state: State, glass: Glass, chosen: Chosen) => Object<string, number>} [between]
 *   numbers before them that no subtraction of numbers gives
 * @property {string[] | ((run: Of, state: State, glass: Glass) => string[])} [said] which are read out; all where
 *   it is left out
 * @property {string[]} [worded] which have words of their own, number_<name>
 * @property {(run: Of) => Record<string, unknown>} [words] parameters of their names
 * @property {(glass: Glass, text: Say) => Part<Of>[]} parts
 */

/** What frame.js has built into a panel that is drawn. @param {HTMLElement} element */
const panelIn = (element) => /** @type {import("../frame.js").Panel} */ (panelOf(element));

let styled = false;
function fetchStyle() {
  if (styled) return;
  styled = true;
  document.head.append(h("link", { rel: "stylesheet", href: addressOf("difference/style.css") }));
}

/**
 * @param {string} kind
 * @param {HTMLElement} element
 * @param {Glass} glass
 * @param {import("../painting.js").Painter} plain
 * @param {import("../frame.js").About} about
 * @returns {Promise<{ draw: import("../painting.js").Painter; hide: () => void }>}
 */
export async function createFace(kind, element, glass, plain, { difference, unused }) {
  fetchStyle();
  if (!difference) return withoutDifference(kind, element, glass, plain);
  if (typeof difference !== "string") return withDifference(kind, element, glass, fromReading(difference), unused);
  const { default: views } = await import(addressOf(`difference/${difference}.js`));
  return withDifference(kind, element, glass, views[kind], unused);
}

/**
 * The panel as it is for B, under a line that says why.
 *
 * @param {string} kind
 * @param {HTMLElement} element
 * @param {Glass} glass
 * @param {import("../painting.js").Painter} plain
 */
function withoutDifference(kind, element, glass, plain) {
  const note = h("p.gp-note.mn-none", { "data-text": `sides.none_${kind}` });
  note.textContent = glass.text(`sides.none_${kind}`);
  panelIn(element).body.before(note);
  /** @type {import("../painting.js").Painter} */
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
 * @param {Pick<View, "note" | "without" | "beside">} view
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
 * @param {Pick<View, "layer" | "neurons">} view
 * @param {Glass} glass
 * @param {Trace} trace
 * @param {{ asked: Questions; later: Questions }} questions of both runs; `later`: what is not waited for
 * @returns {Run | null}
 */
function runOf(view, glass, trace, { asked, later }) {
  const { layer, query } = glass.state;
  const held = trace.layers.get(layer) ?? null;
  const [needed, more] = [asked, later].map((questions) => answersTo(glass, trace, questions));
  const complete = (held || !view.layer) && (!view.neurons || held?.neurons.has(query));
  const here = complete && Object.values(needed).every(Boolean);
  return here ? { trace, layer, held, details: { ...needed, ...more } } : null;
}

/**
 * B − A in the place of the panel's own drawing.
 *
 * @template Chosen
 * @param {string} kind
 * @param {HTMLElement} element
 * @param {Glass} glass
 * @param {View<Run, Chosen>} view
 * @param {import("../frame.js").About["unused"]} unused
 */
function withDifference(kind, element, glass, view, unused) {
  const state = shownIn(glass);
  const panel = panelIn(element);
  /** @type {Say} */
  const text = (name, params) => glass.text(panel.formed(`b_minus_a.${name}`), params);
  const parts = createParts(view.parts(glass, text), glass, unused);
  const controls = view.controls?.(glass);
  const body = createBody(view, parts.places, controls?.elements ?? []);
  panel.body.after(body.element);
  glass.translate(body.element);
  const wide = widthOf(body.element, glass);
  /** @type {(runs: Run[]) => Run[]} */
  const remembered = createMemory();
  /** @type {Run[] | null} what is drawn; null while something of it is missing */
  let both = null;
  /** @type {Chosen} what is left open; of no use before it is drawn */
  let chosen;

  /** Everything that is shown: the value line's numbers, then part by part. */
  function csv() {
    if (!both) return [];
    const { first, second, between } = numbersOf(view, both, glass, chosen);
    const selected = selectedRows(view.at(state, glass, chosen, both[1]), first, second, between);
    return joined([["selected", selected], ...parts.rows(both)]);
  }

  /**
   * Says why there is nothing to subtract, or that it is on its way.
   *
   * @param {string | null} reason
   * @param {Sides} sides
   */
  function say(reason, { A, B }) {
    body.note.textContent = reason ? glass.text(`sides.${reason}`, { a: A.T, b: B.T }) : "";
    body.inner.hidden = ["models", "masks", "parts", "lengths"].includes(reason ?? "");
    if (body.inner.hidden) panel.tell("", "");
  }

  /**
   * Draws the parts, and says what they show.
   *
   * @param {Run[]} runs A and B
   * @param {number} width
   * @param {boolean} fresh
   */
  function show(runs, width, fresh) {
    const [a, b] = runs;
    controls?.show(a, b);
    parts.draw(runs, width, fresh);
    body.key.hidden = parts.markSame(runs);
    body.about.textContent = (!body.key.hidden && view.about?.(a, b, state, text, glass)) || "";
    const pointed = parts.pointed(b);
    chosen = view.choose ? view.choose(state, a, b, pointed, glass) : /** @type {Chosen} */ (pointed);
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
      const found = [sides.A, sides.B]
        .map((trace) => runOf(view, glass, trace, questions))
        .filter((run) => run !== null);
      const width = wide();
      const lack = view.lacks?.(glass, sides) ?? null;
      const waiting = found.length < 2 || lack !== null;
      element.classList.toggle("is-coming", waiting);
      say(waiting ? "waiting" : reason && "ends", sides);
      if (lack !== null) body.note.textContent = lack;
      if (waiting || width === 0) return;
      show((both = remembered(found)), width, fresh);
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
  /** @type {import("../painting.js").Painter} */
  function draw(fresh) {
    const first = body.element.hidden;
    body.element.hidden = false;
    panel.body.hidden = true;
    panel.instead = { csv };
    paint(fresh || first);
  }
  return { draw, hide };
}
