// "Group attention" beside GQA: the selected head with its tokens cut into groups that do not see each other, what its
// query loses by that, and what GQA groups instead.

import { labelsOf } from "../../characters.js";
import { slider } from "../../controls.js";
import { count, h, line, phrase } from "../../dom.js";
import { visible } from "../../draw.js";
import { frame } from "../../frame.js";
import { inWidth, widthOf } from "../../pointing.js";
import { grouped, overlap } from "../../readings/masks.js";
import { groupsReader } from "../../readings/token-groups.js";
import { spanSeen } from "../../compute.js";
import { readHere } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { lostIn } from "./alike.js";
import { selectedCell, weightsTable } from "./cell-selection.js";
import { framesOf, headsByGroup } from "./group-frames.js";
import { createNamedMap } from "./named-map.js";
import { createWeightRows } from "./weight-rows.js";

/** @typedef {import("../../readings/token-groups.js").GroupsReading} GroupsReading */
/** @typedef {import("../../types.d.ts").Glass} Glass */
/** @typedef {(name: string, params?: Record<string, unknown>) => string} Text */

const KIND = "token-groups";
const FIRST = 4; // groups

/** How many groups are set. @param {Glass} glass */
function groupsOf({ settings }) {
  const { groups } = settings.get(KIND);
  const given = Number(groups);
  return groups !== undefined && Number.isInteger(given) && given > 0 ? given : FIRST;
}
/** @param {Glass} glass */
const select = (glass) => ({ ...selectedCell(glass), groups: groupsOf(glass) });

/** @param {Glass} glass */
function createGroups(glass) {
  const set = (/** @type {number} */ groups) => glass.settings.set(KIND, { groups: groups === FIRST ? "" : groups });
  const range = slider("gp-slider", `${KIND}.groups`, { min: 1, step: 1 }, set);
  /** @param {GroupsReading} reading */
  const show = ({ selection: { groups }, tokens, edges }) =>
    range.show(groups, glass.text(`${KIND}.groups_of`, { groups, size: edges[1] }), { max: tokens });
  return { element: range.element, show };
}

/**
 * The same slider over B − A.
 *
 * @param {Glass} glass
 * @param {(run: any) => any} readIn
 */
function groupsOfBoth(glass, readIn) {
  const { element, show } = createGroups(glass);
  return { elements: [element], show: (/** @type {any} */ _a, /** @type {any} */ b) => show(readIn(b)) };
}

export const about = {
  tensors: ["attention", "scores"],
  difference: {
    reader: groupsReader,
    select,
    controls: groupsOfBoth,
    said: ["lost"],
    parts: [{ ...weightsTable, column: "weight_in_group", title: "weights_in_group" }],
  },
  unused: /** @type {const} */ ("head"),
};

/**
 * What GQA groups, and what local attention does.
 *
 * @param {GroupsReading} reading
 * @param {import("../../decode.js").Trace} trace
 * @param {Text} text
 */
function framesFor({ edges, kv, selection: { head, query } }, { model, tokens }, text) {
  const { n_heads: heads, n_kv_heads: count, parts } = model;
  const size = heads / count;
  const byHead = headsByGroup(count, size);
  const pieces = tokens.pieces.map(visible);
  const byToken = edges.slice(1).map((edge, i) => pieces.slice(edges[i], edge));
  const told = parts.latent ? "groups_latent" : size === 1 ? "groups_own" : count === 1 ? "groups_one" : "groups_heads";
  return html`
    <p class="at-told" .textContent=${text(told, { kv, heads, count, size })}></p>
    ${framesOf(byHead, (group, i) => group * size + i === head, "is-heads")}
    <p class="at-told" .textContent=${text("groups_tokens", { count: byToken.length })}></p>
    ${framesOf(byToken, (group, i) => edges[group] + i === query, "is-tokens")}
  `;
}

/**
 * How many scores there are, with and without the network's mask.
 *
 * @param {GroupsReading} reading
 * @param {Text} text
 */
function linesOf({ counts, tokens: n, edges, causal }, text) {
  const sizes = edges.slice(1).map((edge, i) => edge - edges[i]);
  const equal = sizes.every((size) => size === sizes[0]);
  const g = sizes.length;
  const sum = equal ? `n² / g = ${count(n)}² / ${g}` : `Σ mᵢ² = ${summed(sizes, (size) => `${size}²`)}`;
  const lines = [
    line`${text("all_pairs")}   n² = ${String(n)}² = ${bold(counts.all)};   ${sum} = ${bold(counts.within)}`,
  ];
  if (!causal) return lines;
  if (counts.seen !== (n * (n + 1)) / 2) {
    const within = phrase`${text("seen_within")} Σ nᵢ = ${bold(counts.seenWithin)}`;
    return [...lines, line`${text("seen_by_own")}   Σ nᵢ = ${bold(counts.seen)};   ${within}`];
  }
  const each = equal ? `g · m(m + 1) / 2 = ${g} · ${sizes[0]} · ${sizes[0] + 1} / 2` : "Σ mᵢ(mᵢ + 1) / 2";
  return [
    ...lines,
    line`${text("seen_pairs")}   n(n + 1) / 2 = ${bold(counts.seen)};   ${each} = ${bold(counts.seenWithin)}`,
  ];
}

/** @param {number} value */
const bold = (value) => h("strong", null, count(value));

/** @param {number[]} sizes @param {(size: number) => string} told */
function summed(sizes, told) {
  const counts = [...new Set(sizes)].map((size) => ({ size, count: sizes.filter((one) => one === size).length }));
  return counts.map(({ size, count }) => (count > 1 ? `${count} · ${told(size)}` : told(size))).join(" + ");
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function tokenGroups(element, glass) {
  const { state } = glass;
  const panel = frame(element, glass, KIND, { parts: ["what", "formula", "myth", "source"], pointed: false });
  const groups = createGroups(glass);
  const rows = createWeightRows(glass, `${KIND}.rows`);
  const maps = [createNamedMap(glass, `${KIND}.map_own`), createNamedMap(glass, `${KIND}.map_set`)];
  const half = h("div", null, maps[0].canvas);
  const [wide, halfWide] = [widthOf(panel.body, glass), widthOf(half, glass)];

  /** @param {GroupsReading} reading */
  function noticeOf({ values: { lost }, lost: all, selection: { head, query, groups: count } }) {
    const piece = visible(labelsOf(state.trace?.tokens.pieces ?? [])[query] ?? "");
    const numbers = { head, groups: count, query: piece, lost: lostIn(glass.text, lost), all: lostIn(glass.text, all) };
    return panel.text(count === 1 ? "notice_one" : "notice", numbers);
  }
  /** @param {GroupsReading | null} reading */
  const view = (reading) => html`
    <p class="wy-notice" .textContent=${reading ? noticeOf(reading) : ""}></p>
    ${groups.element}
    <div class="gp-columns">
      <div>
        <h3 class="gp-subtitle" .textContent=${panel.text("own_title")}></h3>
        ${half}
      </div>
      <div>
        <h3 class="gp-subtitle" .textContent=${panel.text("set_title")}></h3>
        ${maps[1].canvas}
      </div>
    </div>
    ${rows.canvas} ${reading && state.trace && framesFor(reading, state.trace, panel.text)}
    <div class="gp-formula">${reading && linesOf(reading, panel.text)}</div>
  `;
  render(view(null), panel.body);

  return inWidth(element, wide, function draw(width) {
    const reading = readHere(glass, groupsReader, select(glass));
    element.toggleAttribute("data-loading", !reading);
    const { trace } = state;
    if (!reading || !trace) return undefined;
    const { edges, weights, tokens, matrix, selection } = reading;
    /** @type {import("../../readings/masks.js").Mask} */
    const own = (query) => spanSeen(trace.model, query, tokens);
    const inGroup = grouped(edges, false);
    /** @type {import("../../readings/masks.js").Mask} */
    const both = (query) => overlap(inGroup(query), own(query));
    for (const [i, mask] of [own, both].entries())
      maps[i].draw(halfWide(), { matrix, mask, seen: mask(selection.query) });
    const titles = ["row_own", "row_set"].map((name) => panel.text(name, { head: selection.head }));
    rows.draw(
      width,
      [
        { title: titles[0], weights: weights.own },
        { title: titles[1], weights: weights.set, edges: edges.slice(1, -1) },
      ],
      "attention.ceiling",
    );
    return () => {
      const { layer, head, groups: count } = selection;
      panel.title.textContent = panel.text("title", { layer, head, groups: count });
      groups.show(reading);
      render(view(reading), panel.body);
      panel.show(reading, "");
    };
  });
}
