// One word of the text is changed: which heads and FFNs, at which tokens, carry the difference to the answer.

import { choices } from "../../controls.js";
import { h } from "../../dom.js";
import { valueOf } from "../../frame.js";
import { glossOf } from "../../gloss.js";
import { isChanged } from "../../off.js";
import { memo, reactive } from "../../reads.js";
import { circuitReader, controlsReader, sentNodes } from "../../readings/circuit.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { curveOf } from "./circuit-curve.js";
import { faithOf, percent } from "./circuit-says.js";
import { createDrawing } from "./drawing.js";
import { chooseText, otherText, swapButtons } from "./words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../readings/circuit.js").Circuit} Circuit
 *
 * @typedef {import("../../readings/circuit.js").CircuitReading} CircuitReading
 *
 * @typedef {import("../../decoded.d.ts").Detail<"words">} Words
 *
 * @typedef {{ token: number; text: string }} Asked the place, and the text to compare with
 *
 * @typedef {{ edges: import("../../messages.d.ts").CircuitEdge[]; total: number; done: boolean }} Known the edges
 *   that have come
 */

const AUTO = "auto"; // as many parts as are needed
const COUNTS = [AUTO, "10", "20", "40", "60"];

/**
 * All edges between a circuit's nodes that have come, asking for the next.
 *
 * @param {Glass} glass
 * @param {Circuit} circuit
 * @param {Asked} asked what it was asked with
 * @returns {Known}
 */
function edgesOf(glass, circuit, asked) {
  const nodes = sentNodes(circuit);
  /** @type {Known["edges"]} */
  const edges = [];
  let total = 1;
  while (edges.length < total) {
    /** @type {import("../../decoded.d.ts").Detail<"edges"> | null} */
    const came = glass.detail("edges", { ...asked, nodes, start: edges.length });
    if (!came) break;
    edges.push(...came.edges);
    total = came.total;
    if (!came.edges.length) break;
  }
  return { edges, total, done: edges.length >= total };
}

/** Whether a text is longer than a circuit is found of. @param {Words} found */
const isLong = ({ tokens, limit }) => tokens > limit;

/**
 * The words to change as buttons, and the box that holds the text, for words of one's own.
 *
 * @param {Glass} glass
 * @param {(text: string) => void} choose
 */
function createTextChoice(glass, choose) {
  const offers = h("div.gp-choices", { role: "group", "data-text-label": "why.change" });
  const box = h("input.wy-other", { type: "text", "data-text-label": "why.other_text", dir: "auto" });
  const compare = (/** @type {Event} */ event) => {
    event.preventDefault();
    choose(box.value);
  };
  const press = h("button.gp-option", { "data-text": "why.compare", click: compare });
  const form = h("form.wy-form", { submit: compare }, box, press);

  const take = (/** @type {{ text: string }} */ { text }) => {
    box.value = text;
    choose(text);
  };
  const offer = memo((/** @type {Words} */ found, /** @type {import("../../gloss.js").Gloss} */ gloss, _language) => {
    offers.replaceChildren(...swapButtons(glass, found, take, gloss));
  });
  const fill = memo((/** @type {string} */ text, /** @type {string} */ other) => {
    box.value = other || text;
  });
  /**
   * @param {Words | null} found null: there is nothing to choose
   * @param {string} other the chosen text
   */
  function draw(found, other) {
    if (found) fill(found.text, other);
    if (found) offer(found, glossOf(glass), glass.state.language);
    for (const one of [offers, form]) one.hidden = !found || isLong(found);
    for (const button of /** @type {HTMLCollectionOf<HTMLElement>} */ (offers.children))
      button.setAttribute("aria-pressed", String(button.dataset.swap === other));
  }
  return { elements: [offers, form], draw };
}

/**
 * Fills `element` with the choice of a word and the circuit.
 *
 * @param {Glass} glass
 * @param {HTMLElement} element
 * @param {() => import("../../chosen-step.js").Moment} moment
 */
export function createCircuit(glass, element, moment) {
  const state = shownIn(glass);
  /** @type {import("../../types.d.ts").Say} */
  const text = (name, params) => glass.text(`why.${name}`, params);
  const choice = createTextChoice(glass, (other) => chooseText(glass, other, moment().at));
  const counts = choices(glass, "why", "nodes", COUNTS, AUTO);
  const measure = h("button.gp-option.gp-holds", { click: toggleEdges });
  const progress = h("progress", { hidden: "", "data-text-label": "why.edges" });
  const drawing = createDrawing(glass);
  /**
   * The circuit whose edges are asked for; what was wrong with a text.
   *
   * @type {{ measuring: Circuit | null; trouble: { with: string; words: string } | null }}
   */
  const view = reactive({ measuring: null, trouble: null }, glass.repaint);

  /** @type {CircuitReading | null} */
  let reading = null;
  glass.on("message", (/** @type {import("../../messages.d.ts").Notice | null} */ message) => {
    if (!message?.code.startsWith("circuit_")) return;
    view.trouble = {
      with: otherText(glass, moment().at),
      words: glass.text(`message.${message.code}`, message.params),
    };
  });
  function toggleEdges() {
    const circuit = reading?.circuit ?? null;
    view.measuring = view.measuring === circuit ? null : circuit;
  }

  /**
   * What is said in the place of a circuit: why there is none, or that it is on its way.
   *
   * @param {Words | null} found
   * @param {string} other the chosen text
   * @param {boolean} changed
   */
  function noteOf(found, other, changed) {
    if (changed) return text("changed");
    if (found && isLong(found)) return text(state.trace.encoder ? "too_long_two" : "too_long", { limit: found.limit });
    if (found && !found.swaps.length && !other) return text("no_swaps");
    if (!other || reading) return "";
    return view.trouble?.with === other ? view.trouble.words : text("circuit_waiting");
  }

  /** @type {HTMLElement[]} what is said of the circuit, the glossary's marks in it */
  let faith = [];
  /** @typedef {import("../../readings/circuit.js").ControlsReading} Controls */
  /** @type {Controls | null} what could refute it, once that is measured */
  let controls = null;
  const write = memo(
    (/** @type {Circuit} */ circuit, /** @type {Controls["pairs"] | undefined} */ _pairs, _language) => {
      if (reading?.circuit !== circuit) return;
      faith = [...faithOf(reading, controls, text, Number(COUNTS.at(-1))), curveOf(circuit, text, percent)];
    },
  );
  const build = memo((/** @type {Circuit} */ circuit, _language) => {
    if (reading?.circuit === circuit) drawing.build(reading);
  });

  /**
   * The edges between its parts, where they are asked for.
   *
   * @param {Circuit} found
   * @param {Asked} asked
   */
  function drawEdges(found, asked) {
    const known = view.measuring === found ? edgesOf(glass, found, asked) : null;
    measure.textContent = text(!known ? "edges" : known.done ? "edges_hide" : "edges_stop");
    progress.hidden = !known || known.done;
    if (known) Object.assign(progress, { max: Math.max(1, known.total), value: known.edges.length });
    drawing.draw(known);
  }

  /** @param {string} note */
  const body = (note) => html`
    <h3 class="gp-subtitle" data-text="why.change"></h3>
    <p class="gp-note" data-text="why.change_means"></p>
    ${choice.elements}
    <p class="gp-note" .textContent=${note}></p>
    <div class="wy-faith" ?hidden=${!reading}>${faith}</div>
    <div class="gp-options" ?hidden=${!reading}>${counts.element} ${measure} ${progress}</div>
    <div ?hidden=${!reading}>${drawing.element}</div>
  `;
  render(body(""), element);

  return {
    /** @param {{ position: number } | null} ready the answer, once it is told */
    draw(ready) {
      element.hidden = !ready; // what was said of another run is not said of this one
      if (!ready) return;
      const changed = isChanged(state.trace);
      const at = { token: moment().at };
      const found = changed ? null : glass.detail("words", at);
      const other = otherText(glass, at.token);
      choice.draw(found, other);
      const asked = { ...at, text: other, nodes: counts.now() === AUTO ? null : Number(counts.now()) };
      const isAsked = other && !changed && ready.position === at.token;
      reading = isAsked ? readHere(glass, circuitReader, asked) : null;
      controls = reading && readHere(glass, controlsReader, { ...at, text: other, nodes: sentNodes(reading.circuit) });
      counts.show();
      if (reading) {
        write(reading.circuit, controls?.pairs, state.language);
        build(reading.circuit, state.language);
      }
      render(body(noteOf(found, other, changed)), element);
      if (reading) drawEdges(reading.circuit, { ...at, text: other });
      element.dataset.value = [reading, controls].flatMap((read) => (read ? [valueOf(read)] : [])).join(" ");
    },
  };
}
