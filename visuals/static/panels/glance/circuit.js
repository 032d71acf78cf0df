// One word of the text is changed: which heads and FFNs, at which tokens, carry the difference to the answer.

import { choices } from "../../controls.js";
import { h } from "../../dom.js";
import { isChanged } from "../../off.js";
import { memo, reactive } from "../../reads.js";
import { curveOf } from "./circuit-curve.js";
import { faithOf, percent } from "./circuit-says.js";
import { createDrawing } from "./drawing.js";
import { chooseText, otherText, swapButtons } from "./words.js";

const AUTO = "auto"; // as many parts as are needed
const COUNTS = [AUTO, "10", "20", "40", "60"];

/**
 * All edges between a circuit's nodes that have come, asking for the next.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {object} circuit
 * @param {{ token: number; text: string }} asked what it was asked with
 * @returns {{ edges: object[]; total: number; done: boolean }}
 */
function edgesOf(glass, circuit, asked) {
  const nodes = circuit.nodes.map(({ layer, head, token, kind, stack }) => [
    layer,
    head,
    token,
    ...(stack ? [kind, stack] : []),
  ]);
  const edges = [];
  let total = 1;
  while (edges.length < total) {
    const came = glass.detail("edges", { ...asked, nodes, start: edges.length });
    if (!came) break;
    edges.push(...came.edges);
    total = came.total;
    if (!came.edges.length) break;
  }
  return { edges, total, done: edges.length >= total };
}

/** Whether a text is longer than a circuit is found of. */
const isLong = (found) => found && found.tokens > found.limit;

/**
 * The words to change as buttons, and the box that holds the text, for words of one's own.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {(text: string) => void} choose
 */
function createTextChoice(glass, choose) {
  const offers = h("div.gp-choices", { role: "group", "data-text-label": "why.change" });
  const box = h("input.wy-other", { type: "text", "data-text-label": "why.other_text", dir: "auto" });
  const compare = (event) => {
    event.preventDefault();
    choose(box.value);
  };
  const press = h("button.gp-option", { "data-text": "why.compare", click: compare });
  const form = h("form.wy-form", { submit: compare }, box, press);

  const offer = memo((found, _language) => {
    offers.replaceChildren(
      ...swapButtons(glass, found, (chosen) => {
        box.value = chosen;
        choose(chosen);
      }),
    );
  });
  const fill = memo((text, other) => {
    box.value = other || text;
  });
  /**
   * @param {import("../../decoded.d.ts").Detail<"words"> | null} found null: there is nothing to choose
   * @param {string} other the chosen text
   */
  function draw(found, other) {
    if (found) fill(found.text, other);
    if (found) offer(found, glass.state.language);
    for (const one of [offers, form]) one.hidden = !found || isLong(found);
    for (const button of /** @type {HTMLCollectionOf<HTMLElement>} */ (offers.children))
      button.setAttribute("aria-pressed", String(button.dataset.swap === other));
  }
  return { elements: [offers, form], draw };
}

/**
 * Fills `element` with the choice of a word and the circuit.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @param {HTMLElement} element
 * @param {() => import("../../chosen-step.js").Moment} moment
 */
export function createCircuit(glass, element, moment) {
  const { state } = glass;
  const text = (name, params) => glass.text(`why.${name}`, params);
  const choice = createTextChoice(glass, (other) => chooseText(glass, other, moment().at));
  const counts = choices(glass, "why", "nodes", COUNTS, AUTO);
  const note = h("p.gp-note");
  const faith = h("div.wy-faith");
  const measure = h("button.gp-option.gp-holds", { click: toggleEdges });
  const progress = h("progress", { hidden: "", "data-text-label": "why.edges" });
  const tools = h("div.gp-options", null, counts.element, measure, progress);
  const drawing = createDrawing(glass);
  element.append(
    h("h3.gp-subtitle", { "data-text": "why.change" }),
    h("p.gp-note", { "data-text": "why.change_means" }),
    ...choice.elements,
    note,
    faith,
    tools,
    drawing.element,
  );
  // the circuit whose edges are asked for; what was wrong with a text
  const view = reactive({ measuring: null, trouble: null }, glass.repaint);

  let circuit = null;
  glass.on("message", (message) => {
    if (!message?.code.startsWith("circuit_")) return;
    view.trouble = {
      with: otherText(glass, moment().at),
      words: glass.text(`message.${message.code}`, message.params),
    };
  });
  function toggleEdges() {
    view.measuring = view.measuring === circuit ? null : circuit;
  }

  /** What is said in the place of a circuit: why there is none, or that it is on its way. */
  function noteOf(found, other, changed) {
    if (changed) return text("changed");
    if (isLong(found)) return text(state.trace.encoder ? "too_long_two" : "too_long", { limit: found.limit });
    if (found && !found.swaps.length && !other) return text("no_swaps");
    if (!other || circuit) return "";
    return view.trouble?.with === other ? view.trouble.words : text("circuit_waiting");
  }

  /** The circuit in words and drawn, with its edges where they are asked for. */
  function showCircuit(asked) {
    faith.replaceChildren(...faithOf(circuit, text, Number(COUNTS.at(-1))), curveOf(circuit, text, percent));
    const asking = view.measuring === circuit;
    const known = asking ? edgesOf(glass, circuit, asked) : null;
    measure.textContent = text(!asking ? "edges" : known.done ? "edges_hide" : "edges_stop");
    progress.hidden = !asking || known.done;
    if (known) Object.assign(progress, { max: Math.max(1, known.total), value: known.edges.length });
    drawing.draw(circuit, known);
  }

  return {
    draw(ready) {
      element.hidden = !ready; // what was said of another run is not said of this one
      if (!ready) return;
      const changed = isChanged(state.trace);
      const at = { token: moment().at };
      const found = changed ? null : glass.detail("words", at);
      const other = otherText(glass, at.token);
      choice.draw(found, other);
      const asked = { ...at, text: other, nodes: counts.now() === AUTO ? null : Number(counts.now()) };
      circuit = other && !changed && ready.position === at.token ? glass.detail("circuit", asked) : null;
      note.textContent = noteOf(found, other, changed);
      for (const one of [faith, tools, drawing.element]) one.hidden = !circuit;
      counts.show();
      if (circuit) showCircuit({ ...at, text: other });
    },
  };
}
