// Experts: which of them each token of a layer goes to, how the router chose for one token, and how much each has to
// do: how many of the run's tokens go to it, as bars beside an even share.

import { largest } from "../../arrays.js";
import { labelsOf } from "../../characters.js";
import { line, shown, strong } from "../../dom.js";
import { visible } from "../../draw.js";
import { writtenOut } from "../../equation.js";
import { frame } from "../../frame.js";
import { createDepthMap } from "../../marks/depth.js";
import { rootScale } from "../../marks/scales.js";
import { createTable, listed, writeTexts } from "../../marks/table.js";
import { inWidth, widthOf } from "../../pointing.js";
import { memo } from "../../reads.js";
import { expertsReader, firstWithExperts, weightMap } from "../../readings/routing.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, nothing, render } from "../../vendor/lit-html.js";

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
 * @typedef {import("../../readings/routing.js").Routing} Routing
 *
 * @typedef {import("../../readings/routing.js").Taken} Taken
 *
 * @typedef {import("../../readings/routing.js").Routed} Routed
 *
 * @typedef {import("../../readings/routing.js").ExpertsReading} ExpertsReading
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
 * @param {Taken["made"]} made
 * @param {Ffn} ffn
 * @param {Say} text
 */
function arithmetic({ chosen, scores, sum, weights }, { scoring, experts, normalised, scaling, shared }, text) {
  const [first] = chosen;
  /** @type {(score: number, ...by: number[]) => number} */
  const weighed = (score, ...by) => (normalised ? (score / by[0]) * by[1] : score * by[0]);
  const said = writtenOut(
    { score: scores[first], sum, scaling, weight: weights[0] },
    [["weight", normalised ? ["score", "sum", "scaling"] : ["score", "scaling"], weighed]],
    { of: { scaling: { digits: 4 } } },
  );
  const { score } = said;
  const lines = [line`${text(scoring === "sigmoid" ? "by_sigmoid" : "by_softmax", { experts })}`];
  const scaled = scaling === 1 ? [] : [` × ${said.scaling}`];
  const given = normalised
    ? [
        `${score} / (${chosen.map((e) => shown(scores[e], 4)).join(" + ")})`,
        ...scaled,
        ` = ${score} / ${said.sum}`,
        ...scaled,
      ]
    : [score, ...scaled];
  lines.push(line`${text("weight_of", { expert: first })} = ${given} = ${strong(said.weight)}`);
  lines.push(line`${text(shared ? "output_shared" : "output")}`);
  return lines;
}

/**
 * Which groups are open to the choice, each with what it counts.
 *
 * @param {Taken["made"]} made
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
 * How many tokens each expert has, as bars beside an even share.
 *
 * @param {ExpertsReading} reading
 * @param {Routed} routed
 * @param {Say} text
 */
function loadsView({ ffn: { experts } }, { load, share, unused }, text) {
  const { tokens, weight } = load.columns;
  const most = Math.max(...Array.from(tokens), 1);
  const every = Array.from(tokens, (_, expert) => expert);
  const fullest = () => every.sort((a, b) => tokens[b] - tokens[a] || a - b).slice(0, MOST);
  return html`
    <p class="gp-note" .textContent=${text("even", { share: shown(share, 3), unused, experts })}></p>
    <div class="gp-list" tabindex="0" role="region" aria-label=${text("loads")}>
      <table class="gp-table ffn-loads">
        <tbody>
          ${(experts > MOST ? fullest() : every).map(
            (expert) => html`
              <tr>
                <th class="gp-number" scope="row">${expert}</th>
                <td class="gp-number">${tokens[expert]}</td>
                <td class="gp-number" .textContent=${text("weight_sum", { weight: shown(weight[expert], 3) })}></td>
                <td class="ffn-track">
                  <span class="ffn-bar" style=${`width: ${(100 * tokens[expert]) / most}%`}></span>
                </td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
}

/** How the router chose for one token, the best experts one by one. */
function createChoice() {
  const table = createTable(KIND, COLUMNS, { rows: ROWS });

  /**
   * @param {Taken} taken
   * @param {Routing} found
   * @param {Ffn} ffn
   */
  function fillAnew({ made, chosen }, found, ffn) {
    const empty = [...(ffn.balanced ? [] : ["balance", "choice"]), ...(ffn.groups === 1 ? ["group"] : [])];
    table.hide((name) => empty.includes(name));
    table.fill(made.order.slice(0, ROWS), (fields, expert) => {
      const one = chosen.find((each) => each.expert === expert);
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
  }
  return { box: listed("", `${KIND}.table`, table), fill: memo(fillAnew) };
}

/**
 * The weights with the numbers of the best expert, and the lengths of what is written.
 *
 * @param {ExpertsReading} reading
 * @param {Routed} routed
 * @param {Say} text
 */
function sumsView({ ffn, values: { whole, shared } }, { taken: { made } }, text) {
  const own = { whole: shown(whole, 4), shared: shared === undefined ? "" : shown(shared, 4), width: ffn.shared };
  return html`
    <div class="gp-formula">${arithmetic(made, ffn, text)}</div>
    <p class="gp-note" .textContent=${groupsText(made, ffn, text)}></p>
    <p class="gp-note" .textContent=${text(shared === undefined ? "sums" : "sums_shared", own)}></p>
  `;
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function expertsPanel(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth"] });
  const { text } = panel;
  const map = createMap(glass);
  const choice = createChoice();
  const leadOn = () => glass.select({ layer: firstWithExperts(state.trace.model) ?? 0 });

  /**
   * In a layer without experts: that it has none, and the way to the first that has.
   *
   * @param {ExpertsReading | null} reading of such a layer
   */
  function denseView(reading) {
    const said = reading && {
      note: text("dense", { layer: reading.selection.layer, width: reading.ffn.width }),
      lead: text("dense_lead", { layer: reading.first }),
    };
    return html`
      <div ?hidden=${!reading}>
        <p class="gp-note" .textContent=${said?.note ?? ""}></p>
        <button class="gp-option" @click=${leadOn} .textContent=${said?.lead ?? ""}></button>
      </div>
    `;
  }
  /** What stands over the parts, and under the table. @param {ExpertsReading} reading */
  function wordsOf({ ffn: { experts, top_k }, selection: { layer, query } }) {
    const { T, tokens } = state.trace;
    return {
      note: text("note", { experts, top_k, tokens: T }),
      choice: text("choice_title", { token: query, piece: visible(labelsOf(tokens.pieces)[query]) }),
      others: experts > ROWS ? text("others", { count: experts - ROWS }) : "",
      load: text("load_title", { layer, tokens: T }),
    };
  }
  /** @param {ExpertsReading | null} reading null before it has come */
  function view(reading) {
    const routed = reading?.routed ?? null;
    const words = reading && routed && wordsOf(reading);
    return html`
      ${denseView(routed ? null : reading)}
      <div ?hidden=${!routed}>
        <p class="gp-note" .textContent=${words?.note ?? ""}></p>
        ${map.element}
        <h3 class="gp-subtitle" .textContent=${words?.choice ?? ""}></h3>
        <div class="gp-columns">
          <div>
            ${choice.box}
            <p class="gp-note" .textContent=${words?.others ?? ""}></p>
          </div>
          <div>${reading && routed ? sumsView(reading, routed, text) : nothing}</div>
        </div>
        <h3 class="gp-subtitle" .textContent=${words?.load ?? ""}></h3>
        ${reading && routed ? loadsView(reading, routed, text) : nothing}
      </div>
    `;
  }
  render(view(null), panel.body);

  /** @param {ExpertsReading} reading */
  function tell(reading) {
    const { routed, selection } = reading;
    const { layer, query: token } = selection;
    const piece = visible(labelsOf(state.trace.tokens.pieces)[token]);
    panel.title.textContent = routed ? text("title", { layer, token, piece }) : text("dense_title", { layer });
    const chosen = routed?.taken.chosen.map(({ expert, weight }) => `${expert} (${shown(weight, 3)})`);
    const words = chosen ? text("read", { token, piece, chosen: chosen.join(glass.text("why.list")) }) : "";
    panel.show(reading, words);
  }

  return inWidth(element, widthOf(panel.body, glass), function draw(width) {
    const { trace, layer, query, language } = state;
    const reading = readHere(glass, expertsReader, { layer, query });
    element.classList.toggle("is-coming", !reading);
    if (!reading) return undefined;
    const { routed, ffn } = reading;
    if (routed) map.draw([{ trace, layer, details: { experts: routed.found } }], width);
    return () => {
      if (routed) choice.fill(routed.taken, routed.found, ffn, language);
      render(view(reading), panel.body);
      tell(reading);
    };
  });
}
