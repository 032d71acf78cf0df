// Experts: which of them each token of a layer goes to, how the router chose for one token, and how much each has to
// do: how many of the run's tokens go to it, as bars beside an even share.

import { largest } from "../../arrays.js";
import { labelsOf } from "../../characters.js";
import { exact, h, line, shown, strong } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { createDepthMap } from "../../marks/depth.js";
import { rootScale } from "../../marks/scales.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { inWidth, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { shownIn } from "../../run-for.js";
import { chooseFor, chosenAt, firstWithExperts, loads, weightMap } from "./routing.js";

const KIND = "experts";
const ROWS = 16; // experts of which the choice is shown one by one: the best
/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../messages.d.ts").Ffn} Ffn
 *
 * @typedef {import("./routing.js").Routing} Routing
 *
 * @typedef {ReturnType<typeof chooseFor>} Choice
 */

/** @type {[string, string][]} */
const COLUMNS = [
  ["expert", "th.gp-number"],
  ["score", "td.gp-number"],
  ["balance", "td.gp-number"],
  ["choice", "td.gp-number"],
  ["group", "td.gp-number"],
  ["weight", "td.gp-number"],
  ["length", "td.gp-number"],
];

/** @type {import("../../frame.js").About} */
export const about = {
  only: (model) => firstWithExperts(model) !== null,
  forms: ({ parts: { ffn } }, layer) => [
    ...(ffn[layer].balanced ? ["balanced"] : []),
    ...(ffn[layer].scoring === "sigmoid" ? ["sigmoid"] : []),
  ],
  tensors: ["router_scores", "experts", "expert_weight", "gate", "up", "shared_gate", "shared_up"],
};

/** @typedef {{ trace: Trace; layer: number; details: { experts: Routing } }} MapRun */

/** Tokens × experts: the weights, nothing where a token does not go to an expert. @param {Glass} glass */
function createMap(glass) {
  /** @type {Say} */
  const text = (name, params) => glass.text(`${KIND}.${name}`, params);
  return createDepthMap(glass, {
    label: `${KIND}.map`,
    left: 64,
    cell: (rows) => Math.max(8, Math.min(22, Math.floor(360 / rows))),
    values: (/** @type {MapRun} */ { trace, layer, details: { experts } }) =>
      weightMap(experts, trace.model.parts.ffn[layer].experts),
    scale: (values) => ({ ...rootScale(largest(values)), name: text("map_scale") }),
    change: () => text("map_scale"),
    name: (row) => String(row),
    at: () => ({ row: -1 }),
    pick: ({ token }) => ({ query: token }),
    word: ({ trace: { T, model }, layer, details: { experts } }) => {
      const cells = weightMap(experts, model.parts.ffn[layer].experts);
      return (row, token) => (Number.isNaN(cells[row * T + token]) ? "" : shown(cells[row * T + token], 2));
    },
  });
}

/**
 * How the chosen experts' weights come of their scores, with the numbers of the best one.
 *
 * @param {Choice} made
 * @param {Ffn} ffn
 * @param {Say} text
 */
function arithmetic({ chosen, scores, sum, weights }, { scoring, experts, normalised, scaling, shared }, text) {
  const [first] = chosen;
  const score = shown(scores[first], 5);
  const lines = [line`${text(scoring === "sigmoid" ? "by_sigmoid" : "by_softmax", { experts })}`];
  const scaled = scaling === 1 ? [] : [` × ${shown(scaling, 4)}`];
  const given = normalised
    ? [
        `${score} / (${chosen.map((e) => shown(scores[e], 4)).join(" + ")})`,
        ...scaled,
        ` = ${score} / ${shown(sum, 5)}`,
        ...scaled,
      ]
    : [score, ...scaled];
  lines.push(line`${text("weight_of", { expert: first })} = ${given} = ${strong(weights[0])}`);
  lines.push(line`${text(shared ? "output_shared" : "output")}`);
  return lines;
}

/**
 * Which groups are open to the choice, each with what it counts.
 *
 * @param {Choice} made
 * @param {Ffn} ffn
 * @param {Say} text
 */
function groupsText({ groups }, { kept_groups: kept, group_best: counted, groups: count }, text) {
  if (!groups.length) return "";
  const named = groups.map(({ score, kept: open }, g) => `${g}: ${shown(score, 4)}${open ? " ✓" : ""}`).join(" · ");
  return text("groups", { count, kept, counted, named });
}

const MOST = 64; // bars; of more experts those with the most tokens

/**
 * @param {Glass} glass
 * @returns {{ element: HTMLElement; draw: (routing: Routing, ffn: Ffn, language: string) => void }}
 */
function createLoads(glass) {
  const body = h("tbody", null);
  const even = h("p.gp-note");
  const table = h("table.gp-table.ffn-loads", null, body);
  const element = h("div", null, even, listed("", "experts.loads", { element: table }));
  const draw = memo((/** @type {Routing} */ routing, /** @type {Ffn} */ ffn) => {
    const found = loads(routing, ffn.experts);
    const tokens = routing.chosen.shape[0];
    const share = (tokens * ffn.top_k) / ffn.experts;
    const most = Math.max(...found.map((one) => one.tokens), 1);
    const named = found.map((one, expert) => ({ ...one, expert }));
    const rows =
      ffn.experts > MOST ? named.sort((a, b) => b.tokens - a.tokens || a.expert - b.expert).slice(0, MOST) : named;
    even.textContent = glass.text("experts.even", {
      share: shown(share, 3),
      unused: found.filter((one) => !one.tokens).length,
      experts: ffn.experts,
    });
    body.replaceChildren(
      ...rows.map(({ expert, tokens: count, weight }) =>
        h(
          "tr",
          null,
          h("th.gp-number", { scope: "row" }, String(expert)),
          h("td.gp-number", null, String(count)),
          h("td.gp-number", null, glass.text("experts.weight_sum", { weight: shown(weight, 3) })),
          h("td.ffn-track", null, h("span.ffn-bar", { style: `width: ${(100 * count) / most}%` })),
        ),
      ),
    );
  });
  return { element, draw };
}

/**
 * Each expert's scores and weight at each token.
 *
 * @param {{ found: Routing; ffn: Ffn; layer: number }} view
 * @param {Trace} trace
 * @returns {(string | number)[][]}
 */
function tableOf({ found, ffn, layer }, { tokens: { pieces } }) {
  const rows = pieces.flatMap((piece, t) => {
    const { scores, choice } = chooseFor(found, ffn, t);
    const taken = chosenAt(found, t);
    return Array.from(scores, (score, e) => {
      const one = taken.find(({ expert }) => expert === e);
      return [layer, t, piece, e, score, choice[e], one ? one.weight : 0, one ? one.length : 0];
    });
  });
  return [["layer", "token", "piece", "expert", "score", "score_for_choice", "weight", "length_written"], ...rows];
}

/**
 * Where a token goes, by the network and by the formula, and what each expert has to do, as a program reads it.
 *
 * @param {Routing} found
 * @param {Ffn} ffn
 * @param {number} token
 */
function valueOf(found, ffn, token) {
  const taken = chosenAt(found, token).map(({ expert, weight }) => `${expert}:${exact(weight)}`);
  const { chosen, weights } = chooseFor(found, ffn, token);
  const formula = chosen.map((e, i) => `${e}:${exact(weights[i])}`);
  const load = loads(found, ffn.experts).map(({ tokens }) => tokens);
  const shared = found.shared ? ` shared=${exact(found.shared.data[token])}` : "";
  return `chosen=${taken} formula=${formula} load=${load}${shared} whole=${exact(found.whole.data[token])}`;
}

/** How the router chose for one token: the best experts one by one, and the weights written out. @param {Say} text */
function createChoice(text) {
  const table = createTable(KIND, COLUMNS, { rows: ROWS });
  const [rest, groups, formula, sums] = [h("p.gp-note"), h("p.gp-note"), h("div.gp-formula"), h("p.gp-note")];
  const element = h(
    "div.gp-columns",
    null,
    h("div", null, listed("", `${KIND}.table`, table), rest),
    h("div", null, formula, groups, sums),
  );

  const draw = memo((/** @type {Routing} */ found, /** @type {Ffn} */ ffn, /** @type {number} */ token) => {
    const made = chooseFor(found, ffn, token);
    const taken = chosenAt(found, token);
    const empty = [...(ffn.balanced ? [] : ["balance", "choice"]), ...(ffn.groups === 1 ? ["group"] : [])];
    table.hide((name) => empty.includes(name));
    table.fill(made.order.slice(0, ROWS), (fields, expert) => {
      const one = taken.find((t) => t.expert === expert);
      const values = [
        expert,
        shown(made.scores[expert], 4),
        found.balance ? shown(found.balance.data[expert], 4) : "",
        shown(made.choice[expert], 4),
        Math.floor((expert * ffn.groups) / ffn.experts),
        one ? shown(one.weight, 4) : "–",
        one ? shown(one.length, 4) : "–",
      ];
      writeTexts(fields, values.map(String));
    });
    table.mark((i) => made.chosen.includes(made.order[i]) && i < ffn.top_k);
    rest.textContent = ffn.experts > ROWS ? text("others", { count: ffn.experts - ROWS }) : "";
    formula.replaceChildren(...arithmetic(made, ffn, text));
    groups.textContent = groupsText(made, ffn, text);
    const own = {
      whole: shown(found.whole.data[token], 4),
      shared: found.shared ? shown(found.shared.data[token], 4) : "",
    };
    sums.textContent = text(found.shared ? "sums_shared" : "sums", { ...own, width: ffn.shared });
  });
  return { element, draw };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function expertsPanel(element, glass) {
  const state = shownIn(glass);
  /** @type {{ found: Routing; ffn: Ffn; layer: number } | null} null where it has not come, or there are no experts */
  let view = null;
  const panel = frame(element, glass, KIND, {
    csv: () => (view ? tableOf(view, state.trace) : []),
    parts: ["what", "formula", "myth"],
  });
  const { text } = panel;
  const dense = h("p.gp-note");
  const lead = h("button.gp-option", {
    click: () => glass.select({ layer: firstWithExperts(state.trace.model) ?? 0 }),
  });
  const map = createMap(glass);
  const choice = createChoice(text);
  const [note, subtitle, loadTitle] = [h("p.gp-note"), h("h3.gp-subtitle"), h("h3.gp-subtitle")];
  const load = createLoads(glass);
  const body = h("div", null, note, map.element, subtitle, choice.element, loadTitle, load.element);
  panel.body.append(dense, lead, body);

  /** In a layer without experts: that it has none, and the way to the first that has. @param {number} layer */
  function drawDense(layer) {
    const first = firstWithExperts(state.trace.model);
    panel.title.textContent = text("dense_title", { layer });
    dense.textContent = text("dense", { layer, width: state.trace.model.parts.ffn[layer].width });
    lead.textContent = text("dense_lead", { layer: first });
    panel.tell(`layer ${layer} dense first ${first}`, "");
  }

  return inWidth(element, widthOf(panel.body, glass), function draw(width) {
    const { trace, layer, query: token, language } = state;
    const ffn = trace.model.parts.ffn[layer];
    const none = ffn.experts === 0;
    [dense.hidden, lead.hidden, body.hidden] = [!none, !none, none];
    const found = none ? null : glass.detail("experts", { layer });
    element.classList.toggle("is-coming", !none && !found);
    view = found && { found, ffn, layer };
    if (none) return drawDense(layer);
    if (!found) return undefined;
    const piece = visible(labelsOf(trace.tokens.pieces)[token]);
    panel.title.textContent = text("title", { layer, token, piece });
    note.textContent = text("note", { experts: ffn.experts, top_k: ffn.top_k, tokens: trace.T });
    subtitle.textContent = text("choice_title", { token, piece });
    loadTitle.textContent = text("load_title", { layer, tokens: trace.T });
    map.draw([{ trace, layer, details: { experts: found } }], width);
    choice.draw(found, ffn, token, language);
    load.draw(found, ffn, language);
    const chosen = chosenAt(found, token).map(({ expert, weight }) => `${expert} (${shown(weight, 3)})`);
    const value = `layer ${layer} token ${token} ${valueOf(found, ffn, token)}`;
    panel.tell(value, text("read", { token, piece, chosen: chosen.join(glass.text("why.list")) }));
    return undefined;
  });
}
