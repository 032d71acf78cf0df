// One word of the text is changed: which heads and FFNs, at which tokens, carry the difference to the answer.

import { choices } from "../../controls.js";
import { h } from "../../dom.js";
import { isChanged } from "../../off.js";
import { memo, reactive } from "../../reads.js";
import { createDrawing } from "./drawing.js";
import { chooseText, otherText, swapButtons, word } from "./words.js";

const COUNTS = ["10", "20", "40"];
const [NEARLY, HALF] = [0.9, 0.5]; // shares of the difference
/** To a tenth of a percent; what rounds to nothing has no sign. */
const percent = (x) => `${(Math.round(1000 * x) / 10 || 0).toFixed(1).replace("-", "−")} %`;

/**
 * Fills `element` with the choice of a word and the circuit.
 *
 * @param {() => import("../../chosen-step.js").Moment} moment
 */
export function createCircuit(glass, element, moment) {
  const { state } = glass;
  const text = (name, params) => glass.text(`why.${name}`, params);
  const choose = (other) => chooseText(glass, other, moment().at);
  const offers = h("div.gp-choices", { role: "group", "data-text-label": "why.change" });
  const box = h("input.wy-other", { type: "text", "data-text-label": "why.other_text", dir: "auto" });
  const form = h(
    "form.wy-form",
    { submit: compare },
    box,
    h("button.gp-option", { "data-text": "why.compare", click: compare }),
  );
  const counts = choices(glass, "why", "nodes", COUNTS, "20");
  const note = h("p.gp-note");
  const faith = h("div.wy-faith");
  const measure = h("button.gp-option.gp-holds", { click: toggleEdges });
  const progress = h("progress", { hidden: "", "data-text-label": "why.edges" });
  const tools = h("div.gp-options", null, counts.element, measure, progress);
  const drawing = createDrawing(glass);
  element.append(
    h("h3.gp-subtitle", { "data-text": "why.change" }),
    h("p.gp-note", { "data-text": "why.change_means" }),
    offers,
    form,
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

  function compare(event) {
    event.preventDefault();
    choose(box.value);
  }
  function toggleEdges() {
    view.measuring = view.measuring === circuit ? null : circuit;
  }

  /** The buttons for the words that the server found; the box holds the text, for words of one's own. */
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

  /** All edges that have come, asking for the next; null before any. */
  function edgesOf(asked) {
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

  function say({ answer, other, recovered, without, by_chance: chance, nodes }) {
    const params = { answer: word(answer.piece), other: word(other.piece), count: nodes.length };
    const most = chance.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
    const line = (name, value) => h("p", null, h("strong", null, percent(value)), " ", text(name, params));
    const so = text(
      recovered >= NEARLY ? "carries_all" : recovered >= HALF ? "carries_most" : "carries_little",
      params,
    );
    const more = recovered < NEARLY && nodes.length < Math.max(...COUNTS.map(Number)) ? ` ${text("carries_more")}` : "";
    faith.replaceChildren(
      h("p", null, text("circuit", params)),
      line("recovered", recovered),
      line("by_lot", most),
      line("without", without),
      h("p", null, so, more),
    );
  }

  const isLong = (found) => found && found.tokens > found.limit;
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
    say(circuit);
    const asking = view.measuring === circuit;
    const known = asking ? edgesOf(asked) : null;
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
      if (found) fill(found.text, other);
      if (found) offer(found, state.language);
      for (const one of [offers, form]) one.hidden = changed || !found || isLong(found);
      const asked = { ...at, text: other, nodes: Number(counts.now()) };
      circuit = other && !changed && ready.position === at.token ? glass.detail("circuit", asked) : null;
      for (const button of /** @type {HTMLCollectionOf<HTMLElement>} */ (offers.children))
        button.setAttribute("aria-pressed", String(button.dataset.swap === other));
      note.textContent = noteOf(found, other, changed);
      for (const one of [faith, tools, drawing.element]) one.hidden = !circuit;
      counts.show();
      if (circuit) showCircuit({ ...at, text: other });
    },
  };
}
