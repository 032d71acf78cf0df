// One sentence read by two networks: words, what a head of each reads, next tokens, and what each network costs.

import { labelsOf } from "../../characters.js";
import { topCandidates } from "../../compute.js";
import { exact, h, share } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { likeliestOf, nextOf } from "../../readings/compare.js";
import { effect, memo, reactive } from "../../reads.js";
import { createCosts, rowsOfCost } from "./costs.js";
import { createCard, NEXT } from "./read-card.js";
import { headOf, reading, samePlace, textRead } from "./two.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("./two.js").ReadRun} ReadRun
 */

const SIDES = /** @type {const} */ (["A", "B"]);

/** @type {import("../../frame.js").About} */
export const about = { tensors: ["attention", "logits"], sides: "both" };

/** The setting "layer.head" of a side. @type {(glass: Glass, side: "A" | "B") => string | undefined} */
const placeSet = ({ settings }, side) => settings.get("read-by-two")[side.toLowerCase()];

/**
 * What is shown of both runs; null where there are not two.
 *
 * @param {Glass} glass
 * @returns {ReadRun[] | null}
 */
function runsOf(glass) {
  const { state } = glass;
  const shown = glass.sides();
  if (!shown) return null;
  const sides = { A: shown.A.whole ?? shown.A, B: shown.B.whole ?? shown.B }; // both choose
  const last = state.run === sides.A ? sides.A : sides.B; // whose token is selected
  // a text that is read, and one that is written: both stand at its end
  const two = SIDES.some((side) => sides[side].encoder);
  return SIDES.map((side) => {
    const trace = sides[side];
    const { layer, head } = headOf(placeSet(glass, side), state, trace.model);
    const query = trace === state.trace ? state.query : two ? trace.T - 1 : samePlace(last, trace, state.query);
    const held = glass.layerOf(trace, layer);
    return {
      side,
      trace,
      label: glass.modelName(trace.model.name),
      layer,
      head,
      query,
      found: held && reading(held, trace.model, head, query),
      cost: glass.detail("cost", {}, trace),
    };
  });
}

/**
 * Another layer or head for one side; where that is the page's own selection again, the side follows it.
 *
 * @param {Glass} glass
 * @param {"A" | "B"} side
 * @param {"layer" | "head"} name
 * @param {number} by
 */
function step(glass, side, name, by) {
  const { settings, state } = glass;
  const now = runsOf(glass)?.find((one) => one.side === side);
  if (!now) return; // one of the two is gone
  const wanted = `${now.layer + (name === "layer" ? by : 0)}.${now.head + (name === "head" ? by : 0)}`;
  const { layer, head } = headOf(wanted, state.locked, now.trace.model);
  const own = headOf(undefined, state.locked, now.trace.model);
  const same = own.layer === layer && own.head === head;
  settings.set("read-by-two", {
    ...settings.get("read-by-two"),
    [side.toLowerCase()]: same ? "" : `${layer}.${head}`,
  });
}

/**
 * A row for each weight, each next token and each number of the costs.
 *
 * @param {ReadRun[]} runs
 * @returns {(string | number)[][]}
 */
function table(runs) {
  const lines = runs.flatMap(({ side, trace, layer, head, query, found, cost }) => {
    const model = trace.model.name;
    const place = `layer ${layer} head ${head} query ${query}`;
    const { pieces } = textRead(trace).tokens;
    return [
      ...Array.from(found?.weights ?? [], (weight, key) => ["attention", side, model, place, key, pieces[key], weight]),
      ...topCandidates(nextOf(trace), NEXT).rows.map(({ id, piece, probability }) => [
        "next",
        side,
        model,
        "",
        id,
        piece,
        probability,
      ]),
      ...rowsOfCost(cost).map(([name, value]) => ["cost", side, model, name, "", "", value]),
    ];
  });
  return [["what", "side", "model", "place", "index", "piece", "value"], ...lines];
}

/**
 * The value line of the word under the pointer: data-value, and in words.
 *
 * @param {ReadRun} run
 * @param {number} token
 * @param {Say} text of the panel
 * @returns {[string, string]}
 */
function wordLine({ side, trace, layer, head, query, found }, token, text) {
  const weight = found?.weights[token] ?? 0;
  const [read, looked] = [trace, textRead(trace)].map(({ tokens }) => labelsOf(tokens.pieces));
  const [from, to] = [read[query], looked[token]].map(visible);
  return [
    `${side} layer ${layer} head ${head} query ${query} key ${token} weight=${exact(weight)}`,
    text("read_weight", { side, query: from, key: to, weight: share(weight) }),
  ];
}

/**
 * The value line of what both would write next.
 *
 * @param {ReadRun[]} runs
 * @param {Say} text of the panel
 * @returns {[string, string]}
 */
function nextLine(runs, text) {
  const best = runs.map(({ trace }) => likeliestOf(trace));
  const values = runs.map(({ side, cost }, i) => {
    const next = `next='${best[i].piece}' p=${exact(best[i].probability)}`;
    return `${side} ${next} read=${cost?.read ?? "?"} kept=${cost?.kept ?? "?"}`;
  });
  const [a, b] = best.map(({ piece, probability }) => `“${visible(piece)}” ${share(probability)}`);
  return [values.join(" "), text("read", { a, b })];
}

/**
 * Every other network as a button, to read what is kept as A or, where nothing is, what is shown.
 *
 * @param {Glass} glass
 */
function createReaders(glass) {
  const element = h("div.cmp-row", { role: "group", "data-text-label": "read-by-two.by" });
  const draw = memo((/** @type {string | undefined} */ first, /** @type {string | null} */ second) => {
    const others = glass.models().filter(({ name }) => name !== first);
    element.replaceChildren(
      ...others.map(({ name, label }) =>
        h(
          "button.cmp-button",
          { "data-model": name, "aria-pressed": String(name === second), click: () => glass.readBy(name) },
          label,
        ),
      ),
    );
    element.hidden = !others.length;
  });
  return { element, draw };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function readByTwo(element, glass) {
  const { state } = glass;
  /** @type {{ at: import("./read-card.js").Pointed }} */
  const pointed = reactive({ at: null });
  const panel = frame(element, glass, "read-by-two", {
    csv: () => table(runsOf(glass) ?? []),
    parts: ["what", "formula", "myth"],
  });
  const { text } = panel;
  const readers = createReaders(glass);
  const hint = h("p.gp-note", { role: "status" });
  const point = (/** @type {import("./read-card.js").Pointed} */ at) => {
    pointed.at = at;
    glass.repaint();
  };
  const cards = Object.fromEntries(
    SIDES.map((side) => [
      side,
      createCard(side, glass, text, { step: (name, by) => step(glass, side, name, by), point }),
    ]),
  );
  const costs = createCosts(glass, text);
  const both = h("div", null, h("div.cmp-runs", null, ...SIDES.map((side) => cards[side].element)), costs.element);
  panel.body.append(h("p.gp-note", { "data-text": "read-by-two.by" }), readers.element, hint, both);

  /** @param {ReadRun[] | null} runs */
  function hintOf(runs) {
    if (!runs) return text(glass.models().length > 1 ? "empty" : "alone");
    const [a, b] = runs.map(({ trace }) => trace.model.name);
    return text(a === b ? "one_model" : "not_subtracted");
  }

  /** @param {ReadRun[]} runs */
  function tell(runs) {
    const { at } = pointed;
    const one = runs.find(({ side }) => side === at?.side);
    const ofWord = at && one?.found && at.token < textRead(one.trace).T;
    panel.tell(...(ofWord ? wordLine(one, at.token, text) : nextLine(runs, text)));
  }

  return effect(function draw() {
    const runs = runsOf(glass);
    const { kept, run: trace } = state;
    panel.title.textContent = text("title");
    readers.draw((kept ?? trace)?.model.name, runs?.[1].trace.model.name ?? null, state.language);
    both.hidden = !runs;
    hint.textContent = hintOf(runs);
    if (!runs) return panel.tell("", "");
    for (const one of runs) cards[one.side].draw(one);
    costs.draw(runs);
    return tell(runs);
  });
}
