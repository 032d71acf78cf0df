// What is said of an answer first: which head reads it in the text, and what is left when such heads are off.

import { labelsOf } from "../../characters.js";
import { exact, h, shown } from "../../dom.js";
import { NEEDED } from "../../readings/rests.js";
import { leftByChance, othersTakeAsMuch, verdict } from "../../readings/verdict.js";
import { shownIn } from "../../run-for.js";
import { takenOut } from "./ablation.js";
import { filled, formOf, leadTo, leadToCell, readBy, sentences, shareWord, word } from "./words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../decoded.d.ts").Detail<"why">} Why
 *
 * @typedef {import("../../messages.d.ts").FirstHead} FirstHead
 *
 * @typedef {Object<string, Node | string>} Names what stands for the sentences' placeholders
 */

/** @param {Node | string} words */
const bold = (words) => h("b", null, words);

/**
 * The answer and the heads that read it, for the sentences' placeholders.
 *
 * @param {Glass} glass
 * @param {Why} found
 */
function answerNames(glass, { look, probability, piece, position }) {
  const { trace } = shownIn(glass);
  return {
    answer: bold(word(piece)),
    query: bold(word(labelsOf(trace.tokens.pieces)[position])),
    key: bold(word(readBy(trace, look.kind)[look.key])),
    p: h("button.wy-lead", { click: () => leadTo(glass, "glance", "next") }, shareWord(glass.text, probability)),
    q: bold(shareWord(glass.text, look.without)),
  };
}

/**
 * The head that looks most, for the sentences' placeholders.
 *
 * @param {Glass} glass
 * @param {FirstHead} first
 * @param {number} position
 */
function headNames(glass, first, position) {
  const { trace } = shownIn(glass);
  const from =
    position === 0 && trace.encoder
      ? glass.text("why.from_start")
      : glass.text("why.from_token", { piece: word(labelsOf(trace.tokens.pieces)[position]) });
  return {
    from,
    part: glass.text(`why.part_${first.kind}`, { layer: first.layer, index: first.head }),
    layer: String(first.layer),
    head: String(first.head),
    weight: leadToCell(glass, shareWord(glass.text, first.weight), first, position),
    at: bold(word(readBy(trace, first.kind)[first.key])),
  };
}

/**
 * Which sentence says where the head that looks most looks: at the answer like those that read it, at its own
 * token, or elsewhere.
 *
 * @param {Why} found
 * @param {FirstHead} first
 */
function lookForm({ look, position }, first) {
  const form = formOf(look.kind);
  const alike = formOf(first.kind) === form && first.key === look.key;
  const among = alike && look.heads.some(({ layer, head }) => layer === first.layer && head === first.head);
  const itself = !form && look.key === position;
  return `${!among ? "looks_between" : itself ? "looks_itself" : "looks"}${form}`;
}

/**
 * What is left with the heads off that read the answer, beside what is left with as many others off.
 *
 * @param {Glass} glass
 * @param {Why} found
 * @param {Names} names
 */
function proofOf(glass, found, names) {
  const { text } = glass;
  const { look } = found;
  const [kind, count, form] = [verdict(found), look.heads.length, formOf(look.kind)];
  const chance = leftByChance(look);
  const lot = kind !== "same" && othersTakeAsMuch(found);
  const template = sentences(
    text,
    text(`why.${kind}${lot && kind === "stays" ? "_alike" : ""}${form}`, { count }),
    chance === null ? "" : text(`why.${lot ? "alike" : "chance"}${form}`, { count }),
  );
  const given = { ...names, chance: shareWord(glass.text, chance ?? 0), draws: String(look.by_chance.length) };
  return h("p", null, ...filled(template, given));
}

/**
 * The nats that are lost without the head that looks most, as the map of all heads has them; null where it is not
 * measured.
 *
 * @param {Why} found
 */
function lostWithout({ first, grid }) {
  const at = grid && first ? first.layer * grid.lost.shape[1] + first.head : -1;
  return grid?.measured.data[at] ? grid.lost.data[at] : null;
}

/**
 * Which sentence names the head that looks most and is missed most of those; one that is hardly missed is not said
 * to be missed.
 *
 * @param {number | null} alone the nats that are lost without it; null where it is not measured
 */
export function firstForm(alone) {
  if (alone === null) return "group_first";
  return alone < NEEDED ? "group_first_hardly" : "group_first_alone";
}

/** @param {number} x */
const nats = (x) => h("span", { title: exact(x, 6) }, shown(x, 2));

/**
 * What is left with the heads off that are missed most, beside what is left with random ones of the same layers
 * off.
 *
 * @param {Glass} glass
 * @param {Why} found
 * @param {Names} names
 */
function groupProof(glass, found, names) {
  const { text } = glass;
  const { look } = found;
  const [kind, count] = [verdict(found), look.heads.length];
  const lot = kind !== "same" && othersTakeAsMuch(found);
  const alone = lostWithout(found);
  const template = sentences(
    text,
    text(`why.${firstForm(alone)}`),
    text(`why.group_${kind}`, { count }),
    text(`why.group_${lot ? "alike" : "chance"}`),
  );
  const chance = shareWord(glass.text, leftByChance(look) ?? 0);
  const by = found.grid ? takenOut(glass, found.grid) : "";
  const given = { ...names, kind: by, alone: nats(alone ?? 0), chance, draws: String(look.by_chance.length) };
  return h("p", null, ...filled(template, given));
}

/**
 * What is said first, and what follows from switching off.
 *
 * @param {Glass} glass
 * @param {Why} found
 * @returns {{ says: HTMLElement[]; proves: HTMLElement[] }}
 */
export function reasonsOf(glass, found) {
  const { look, first, parts, position } = found;
  /** @type {(name: string, given: Names) => HTMLElement} */
  const sentence = (name, given) =>
    h("p", null, ...filled(glass.text(`why.${name}`, { count: look.heads.length }), given));
  if (!first) return { says: [sentence("no_head", {})], proves: [] };
  const names = { ...answerNames(glass, found), ...headNames(glass, first, position) };
  if (found.grid) return { says: [], proves: [groupProof(glass, found, names)] };
  if (verdict(found) === "nobody") {
    const own = parts.find((one) => one.kind === first.kind && one.layer === first.layer && one.index === first.head);
    const given = { ...names, q: bold(shareWord(glass.text, own?.without ?? NaN)) };
    return { says: [sentence(`nobody${formOf(first.kind)}`, given)], proves: [] };
  }
  return { says: [sentence(lookForm(found, first), names)], proves: [proofOf(glass, found, names)] };
}
