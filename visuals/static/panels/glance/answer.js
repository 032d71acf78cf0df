// Why it is this word: who looks back at which token, what is left without them, and what else the answer would miss.

import { exact, h, share } from "../../dom.js";
import { isChanged, takenBack } from "../../off.js";
import { memo, reactive } from "../../reads.js";
import { leftByChance, othersTakeAsMuch } from "./control.js";
import { neuronIn } from "../../neuron-names.js";
import { isMatch, isRefuted, marksOf, matchingOf, namesOf } from "./matching.js";
import { createScoreSum } from "./score-sum.js";
import { filled, lead, leadTo, leadToCell, readBy, readersOff, selectLook, word } from "./words.js";

const [HEADS, NEURONS] = [6, 4];
// where more of the probability stays, the heads alone do not decide; where it was less, they hold the word down
const KEPT = 0.8;

const isNeuron = ({ kind }) => kind.endsWith("neuron");
/**
 * A part that the answer "why" measures: what is left without it, and of a head where it looks.
 *
 * @typedef {{
 *   kind: import("./words.js").PartKind;
 *   layer: number;
 *   index: number;
 *   without: number;
 *   loss: number;
 *   head?: number;
 *   query?: number;
 *   key?: number;
 *   weight?: number;
 * }} Part
 */

/**
 * A part in words: a neuron as the chapter on the feed-forward names it.
 *
 * @param {Pick<Part, "kind" | "layer" | "index">} part
 * @param {object} trace
 * @param {import("../../types.d.ts").Texts["text"]} text glass.text
 */
export function nameOfPart({ kind, layer, index }, trace, text) {
  const own = kind === "neuron" ? trace.model : kind === "encoder_neuron" ? trace.encoder.model : null;
  return text(`why.part_${kind}`, { layer, index: own ? neuronIn(own, layer, index, text) : index });
}
/**
 * Those that the list names: heads, of an encoder as many as of what writes, then neurons; what is missed most
 * first.
 *
 * @param {Part[]} parts in that order
 */
export function ranked(parts) {
  const heads = parts.filter((one) => !isNeuron(one));
  const of = (encoder) => heads.filter(({ kind }) => (kind === "encoder_head") === encoder).slice(0, HEADS);
  const named = new Set([...of(false), ...of(true), ...parts.filter(isNeuron).slice(0, NEURONS)]);
  return [...heads, ...parts.filter(isNeuron)].filter((one) => named.has(one));
}

/**
 * Texts of heads that look at a source, or are an encoder's, in the place of those that look back.
 *
 * @param {import("./words.js").PartKind} kind
 */
const formOf = (kind) => ({ cross: "_cross", encoder_head: "_encoder" })[kind] ?? "";

/** Which sentence tells what the heads that read the answer are worth. */
export function verdict({ probability, look }) {
  if (!look.heads.length) return "nobody";
  if (share(look.without) === share(probability)) return "same";
  if (probability < KEPT * look.without) return "rises";
  return look.without < KEPT * probability ? "falls" : "stays";
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {() => import("../../chosen-step.js").Moment} moment
 */
export function createAnswer(glass, moment) {
  const { state } = glass;
  const text = (name, params) => glass.text(`why.${name}`, params);
  const said = h("div.wy-said", { "aria-live": "polite" });
  const how = h("div.wy-how", { hidden: "" });
  const told = h("div");
  const sum = createScoreSum(glass);
  how.append(told, sum.element);
  const proof = h("div.wy-proof", { "aria-live": "polite" });
  const off = h("button.gp-option.gp-holds", {
    click: () => glass.change(isChanged(state.trace) ? {} : readersOff(shown.look)),
  });
  const parts = h("ol.wy-parts");
  const list = h(
    "details.wy-list",
    null,
    h("summary", { "data-text": "why.parts" }),
    h("p.gp-note", { "data-text": "why.parts_means" }),
    parts,
  );
  const circuit = h("div.wy-circuit", { "data-part": "circuit" });
  const twoTexts = h("p.gp-note", { hidden: "", "data-text": "why.two_texts" });
  const element = h(
    "div.wy-answer",
    { hidden: "" },
    said,
    how,
    proof,
    h("p.wy-actions", null, h("button.gp-option", { "data-tour": "word", "data-text": "tour.start" }), " ", off),
    list,
    circuit,
    twoTexts,
  );
  let shown = null; // the answer that is shown
  let leading = false; // the selection is to go where the answer leads
  const view = reactive({ circuit: null }, glass.repaint); // what is drawn of it, once it has come

  /** What leads to one head's cell. */
  const toCell = (words, one) => leadToCell(glass, words, one, shown.position);
  const toNext = (words) => h("button.wy-lead", { click: () => leadTo(glass, "glance", "next") }, words);
  const sentence = (name, given) =>
    h("p", null, ...filled(glass.text(`why.${name}`, { count: shown.look.heads.length }), given));

  /** What is said first, and what follows from switching off. */
  function sentences() {
    const { look, first, probability, piece, position } = shown;
    const { trace } = state;
    const kind = verdict(shown);
    if (!first) return { says: [sentence("no_head", {})], proves: [] };
    const given = {
      answer: h("b", null, word(piece)),
      query: h("b", null, word(trace.tokens.pieces[position])),
      key: h("b", null, word(readBy(trace, look.kind)[look.key])),
      p: toNext(share(probability)),
      q: h("b", null, share(look.without)),
    };
    const from =
      position === 0 && trace.encoder
        ? text("from_start")
        : text("from_token", { piece: word(trace.tokens.pieces[position]) });
    const named = text(`part_${first.kind}`, { layer: first.layer, index: first.head });
    const best = {
      from,
      part: named,
      layer: String(first.layer),
      head: String(first.head),
      weight: toCell(share(first.weight), first),
      at: h("b", null, word(readBy(trace, first.kind)[first.key])),
    };
    if (kind === "nobody") {
      const own = shown.parts.find(
        (one) => one.kind === first.kind && one.layer === first.layer && one.index === first.head,
      );
      return {
        says: [sentence(`nobody${formOf(first.kind)}`, { ...given, ...best, q: h("b", null, share(own.without)) })],
        proves: [],
      };
    }
    const chance = leftByChance(look);
    const alike = formOf(first.kind) === formOf(look.kind) && first.key === look.key;
    const among = alike && look.heads.some(({ layer, head }) => layer === first.layer && head === first.head);
    const [count, form] = [look.heads.length, formOf(look.kind)];
    const lot = kind !== "same" && othersTakeAsMuch(shown);
    const itself = !form && look.key === position;
    return {
      says: [sentence(`${!among ? "looks_between" : itself ? "looks_itself" : "looks"}${form}`, { ...given, ...best })],
      proves: [
        h(
          "p",
          null,
          ...filled(
            row(
              text(`${kind}${lot && kind === "stays" ? "_alike" : ""}${form}`, { count }),
              chance === null ? "" : text(`${lot ? "alike" : "chance"}${form}`, { count }),
            ),
            { ...given, chance: share(chance ?? 0), draws: String(look.by_chance.length) },
          ),
        ),
      ],
    };
  }
  /** Sentences in a row, as the language sets them. */
  const row = (one, two, three = "") => text("sentences", { one, two, three }).trim();

  /** How the head tells the token that it reads from another answer in the text; nothing where that cannot be said. */
  const tellHow = memo((found, first, position, pieces, _language) => {
    how.hidden = !found;
    if (!found) return undefined;
    const place = { query: position, key: first.key };
    const marks = marksOf(found, place, pieces);
    const names = { ...namesOf(found, place, glass.text, pieces), ...marks };
    const given = { layer: first.layer, head: first.head, ...(marks && { asks: text(marks.asks) }) };
    const bold = Object.fromEntries(
      ["key_from", "rival_from", "asked_from"]
        .filter((name) => names[name])
        .map((name) => [name, h("b", null, names[name])]),
    );
    const { same: _same, ...words } = names;
    const term = lead(
      glass,
      names.term,
      { layer: first.layer, head: first.head, query: position, key: first.key },
      "attend",
      "score-terms",
    );
    const say = (template) => h("p", null, ...filled(template, { ...words, ...bold, term }));
    told.replaceChildren(
      h("h3.gp-subtitle", null, text("matching", names)),
      say(
        row(
          marks ? text("matching_marks", given) : "",
          text("matching_scores", given),
          found.other
            ? text(isRefuted(found) ? "matching_other_not" : "matching_other")
            : isMatch(found)
              ? ""
              : text("matching_little"),
        ),
      ),
    );
    sum.draw(found, names, say);
    return undefined;
  });

  /** A neuron's name, which leads to it: an encoder's at the end of its source. */
  function toNeuron(words, { kind, layer, index: neuron }) {
    if (kind === "neuron") return lead(glass, words, { layer, neuron, query: shown.position }, "ffn", "ffn-token");
    return h(
      "button.wy-lead",
      { click: () => leadTo(glass, "ffn", "ffn-token", () => glass.readStack("encoder", { layer, neuron })) },
      words,
    );
  }

  /** The ranking: each part, what is left without it, and where a head looks. */
  function rowsOf() {
    return ranked(shown.parts).map((one) => {
      const [words, pieces] = [nameOfPart(one, state.trace, glass.text), readBy(state.trace, one.kind)];
      const isHead = !isNeuron(one);
      const looks =
        isHead &&
        text(`part_looks${formOf(one.kind)}`, {
          key: word(pieces[one.key]),
          query: word(pieces[one.query] ?? ""),
          weight: share(one.weight),
        });
      return h(
        "li",
        null,
        isHead ? toCell(words, one) : toNeuron(words, one),
        ` ${text("part_without", { p: share(one.without) })}${looks || ""}`,
      );
    });
  }

  let asked = false;
  async function fetchCircuit() {
    if (asked) return;
    asked = true;
    const { createCircuit } = await import("./circuit.js");
    const made = createCircuit(glass, circuit, moment);
    glass.translate(circuit);
    view.circuit = made;
  }

  const show = memo((found, language, changed) => {
    shown = found;
    const { says, proves } = found ? sentences() : { says: [h("p.gp-note", null, text("measuring"))], proves: [] };
    said.replaceChildren(...says);
    proof.replaceChildren(...proves);
    if (!found) return undefined;
    parts.replaceChildren(...rowsOf());
    off.textContent = text(changed ? `back_${takenBack(state.trace)}` : "switch_off", {
      count: found.look.heads.length,
    });
    off.hidden = !changed && !found.look.heads.length;
    return undefined;
  });

  function draw(open, found) {
    element.hidden = !open;
    if (!open) return;
    show(found, state.language, isChanged(state.trace));
    const { first, position } = found ?? {};
    const pair = first && first.kind !== "cross" ? matchingOf(glass, { ...first, query: position }).found : null;
    tellHow(pair, first, position, state.trace.tokens.pieces, state.language);
    if (found && leading) follow();
    twoTexts.hidden = !state.trace.encoder;
    fetchCircuit();
    view.circuit?.draw(found);
  }

  /** To the head that reads the answer, at the token that it looks at. */
  function follow() {
    leading = false;
    const { first, position } = shown;
    if (first) queueMicrotask(() => selectLook(glass, first, position, glass.selectByPage));
  }

  const table = () => [
    ["part", "layer", "index", "probability_without", "loss_nats", "key", "weight"],
    ...(shown?.parts ?? []).map((one) => [
      one.kind,
      one.layer,
      one.index,
      one.without,
      one.loss,
      one.key ?? "",
      one.weight ?? "",
    ]),
  ];
  const tell = (found) => {
    if (!found) return "";
    const { kind, key, heads, without } = found.look;
    return ` ${kind === "cross" ? "source" : "key"} ${key} heads ${heads.length} without=${exact(without)}`;
  };
  return {
    element,
    draw,
    table,
    tell,
    lead: () => {
      leading = true;
    },
  };
}
