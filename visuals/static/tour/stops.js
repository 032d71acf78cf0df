// The stops of the first tour, from text to word: where each one leads, what it selects, and what it reads from the
// run.

import { centres, looksAtSource } from "../parts.js";
import { setVector } from "../panels/attend/vector-choice.js";
import { setNorm } from "../panels/norm/norm-choice.js";
import { adjust } from "../panels/position/place.js";
import { acrossCarry, acrossHead, acrossMatch, acrossSoftmax, atAcross } from "./across.js";
import { embedding, norm, project, rope, tokens } from "./enter.js";
import { carry, ffn, head, softmax, strongestWriter } from "./layers.js";
import { choice, lens, logits, off } from "./leave.js";
import { match } from "./match.js";

/**
 * @typedef {import("./places.js").Places} Places
 *
 * @typedef {import("../decode.js").Trace} Trace
 *
 * @typedef {{
 *   numbers: Object<string, import("./numbers.js").Said>;
 *   say?: string;
 *   asks?: string;
 *   answers?: string;
 *   act?: { text: string; run: () => void; busy?: boolean; changes?: object };
 * }} Told
 *   `numbers` fill the texts <section>.<stop>_says, _asks and _answers, with `say`, `asks` and `answers` put at the
 *   end of these names (each the one before it where it is left out); `act`: a button for what the reader is to do,
 *   with the changes of the run that it asks for
 *
 * @typedef {StopOf<Places> | StopOf<Trace>} Stop
 */

/**
 * A stop, which is given what its tour goes by (tours.js).
 *
 * @template Found
 * @typedef {{
 *   name: string;
 *   chapter: string;
 *   panel: string;
 *   parts?: string[];
 *   set?: (glass: import("../types.d.ts").Glass) => void;
 *   namesChanges?: boolean;
 *   select: (found: Found, glass: import("../types.d.ts").Glass) => object;
 *   told: (glass: import("../types.d.ts").Glass, found: Found) => Told | null;
 *   title?: string;
 *   texts?: string;
 *   of?: (model: object) => Partial<StopOf<Found>> | false;
 * }} StopOf
 *   `of`: in what this stop is another for a network with other parts, its `title` (a key of the texts) too, or all
 *   its `texts`; `parts`: what of the panel is meant, by the names that its elements have (panel-parts.js); `set`:
 *   settings of the panel that are put back; `told`: null until all has come; `namesChanges`: false where it speaks
 *   of no run, or says itself what is switched off
 */

const atHead = ({ at, head: { layer, head: index, key } }) => ({ layer, head: index, query: at, key });
const atNeuron = (found, glass) => {
  const best = strongestWriter(glass, found);
  return { layer: best?.layer ?? found.head.layer, neuron: best?.neuron ?? null, query: found.at };
};
const firstNorm = (glass) => setNorm(glass, { which: "attn", channel: "" });
/** Takes one panel's setting back to what the page opens with. */
const unset = (panel, name) => (glass) => glass.settings.set(panel, { ...glass.settings.get(panel), [name]: "" });

const layerNorm = (model) => centres(model) && { title: "norm_layer" };
/** Where keys are rebuilt from a latent. */
const latent = (model) => model.parts.latent && { panel: "latent", parts: ["kept"], title: "project_latent" };
const biased = ({ parts: { bias } }) => bias !== null && { panel: "rope", parts: ["formula"], title: "rope_bias" };

/** A stop in a decoder that looks at a source: it is there that the answer comes from. */
const across =
  (texts, told, part, panel = "cross") =>
  (model) =>
    looksAtSource(model) && {
      panel,
      chapter: panel === "cross" ? "attend" : "choice",
      parts: [part],
      texts,
      title: texts,
      told,
      select: atAcross,
      set: unset(...(panel === "cross" ? ["cross", "source"] : ["logit-terms", "versus"])),
    };

/** @type {StopOf<Places>[]} */
export const STOPS = [
  {
    name: "tokens",
    chapter: "token",
    panel: "merges",
    parts: ["token"],
    select: ({ at }) => ({ query: at }),
    told: tokens,
  },
  {
    name: "embedding",
    chapter: "norm",
    panel: "norm-vector",
    parts: ["strips"],
    set: firstNorm,
    select: ({ at }) => ({ layer: 0, query: at }),
    told: embedding,
  },
  {
    name: "norm",
    chapter: "norm",
    panel: "norm-vector",
    parts: ["strips"],
    set: firstNorm,
    select: atHead,
    told: norm,
    of: layerNorm,
  },
  {
    name: "project",
    chapter: "attend",
    panel: "qkv",
    parts: ["choices", "notice"],
    set: (glass) => setVector(glass, { vector: "q", channel: "" }),
    select: atHead,
    told: project,
    of: latent,
  },
  {
    name: "rope",
    chapter: "position",
    panel: "rope-score",
    parts: ["sliders", "formula"],
    set: (glass) => adjust(glass, { both: 0, distance: "" }),
    select: atHead,
    told: rope,
    of: biased,
  },
  {
    name: "head",
    chapter: "attend",
    panel: "cell",
    parts: ["map"],
    set: unset("cell", "view"),
    select: atHead,
    told: head,
    of: across("cross-head", acrossHead, "map"),
  },
  {
    name: "match",
    chapter: "attend",
    panel: "score-terms",
    parts: ["terms"],
    select: atHead,
    told: match,
    of: across("cross-match", acrossMatch, "formula"),
  },
  {
    name: "softmax",
    chapter: "attend",
    panel: "cell",
    parts: ["steps"],
    select: atHead,
    told: softmax,
    of: across("cross-softmax", acrossSoftmax, "weights"),
  },
  {
    name: "carry",
    chapter: "attend",
    panel: "cell",
    parts: ["carried"],
    select: atHead,
    told: carry,
    of: across("cross-carry", acrossCarry, "notice", "logit-terms"),
  },
  { name: "ffn", chapter: "ffn", panel: "ffn-token", parts: ["formula"], select: atNeuron, told: ffn },
  {
    name: "lens",
    chapter: "choice",
    panel: "lens",
    parts: ["map"],
    set: unset("lens", "follow"),
    select: ({ at }) => ({ query: at, layer: 0 }),
    told: lens,
  },
  {
    name: "logits",
    chapter: "choice",
    panel: "logit-terms",
    parts: ["notice"],
    set: unset("logit-terms", "versus"),
    select: atHead,
    told: logits,
  },
  { name: "choice", chapter: "glance", panel: "next", select: atHead, told: choice },
  { name: "off", chapter: "glance", panel: "why", parts: ["answer"], select: atHead, told: off, namesChanges: false },
];
