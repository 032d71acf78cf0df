// The tour of the KV cache: its stops, and what they read from the run and from the chapter's panels.

import {
  elementBytes,
  bytesOf,
  factorsOf,
  grown,
  heldBytes,
  keptNumbers,
  latentOf,
  measuredAt,
  momentOf,
  sourceFactors,
} from "../readings/kv.js";
import { whole as separated } from "../panels/kv/format.js";
import { milli } from "../panels/kv/kv-race.js";
import { FIRST, question } from "../panels/kv/question.js";
import { looksAtSource } from "../parts.js";
import { raceOf, workOf } from "../panels/kv/race.js";
import { bytes, factor, millions, piece, whole, words } from "./numbers.js";

/** @typedef {import("../decode.js").Trace} Trace */

/**
 * The counts of the shape that most stops name.
 *
 * @param {Trace} trace
 */
function shapeOf(trace) {
  const { n_layers: layers, n_heads: heads, n_kv_heads: kv, head_dim: width } = trace.model;
  const { rank, rope } = latentOf(trace) ?? { rank: 0, rope: 0 };
  const source = trace.encoder ? bytesOf(sourceFactors(trace)) : 0;
  return {
    n_layers: whole(layers),
    n_heads: whole(heads),
    n_kv: whole(kv),
    group: whole(heads / kv),
    width: whole(width),
    latent: whole(rank),
    rope: whole(rope),
    n_read: whole(trace.encoder?.T ?? 0),
    source: bytes(source),
  };
}
/**
 * The end of the texts' names that speak of what is kept of a source besides.
 *
 * @param {Trace} trace
 */
const sourceForm = (trace) => (trace.encoder ? "_source" : "");
/**
 * The same, also of those that speak of a latent in place of keys and values.
 *
 * @param {Trace} trace
 */
const formOf = (trace) => (latentOf(trace) ? "_latent" : sourceForm(trace));
/**
 * How many numbers keys and values of a layer's heads have for one token, kept or rebuilt.
 *
 * @param {Trace} trace
 */
function keyValueNumbers(trace) {
  const { n_heads: heads, n_kv_heads: kv, head_dim: width } = trace.model;
  const latent = latentOf(trace);
  return latent ? heads * (width + latent.value) : 2 * kv * width;
}
const milliseconds = (seconds) => ({ value: seconds, text: milli(seconds) });
/**
 * What so many tokens take.
 *
 * @param {Trace} trace
 */
const taken = (trace, tokens) => bytesOf(factorsOf(trace, tokens));

function prefill(_glass, trace) {
  const { pieces } = trace.tokens;
  const form = sourceForm(trace);
  return {
    say: formOf(trace),
    asks: form,
    answers: form,
    numbers: {
      ...shapeOf(trace),
      n_tokens: whole(trace.nPrompt),
      last: piece(pieces[trace.nPrompt - 1]),
      wrote: bytes(taken(trace, trace.nPrompt)),
    },
  };
}

function decode({ state }, trace) {
  if (trace.generating) return null;
  const at = trace.T - 1;
  const { held } = momentOf(trace, at);
  const written = trace.T > trace.nPrompt;
  return {
    say: (written ? "_done" : "") + formOf(trace),
    asks: "",
    answers: formOf(trace),
    act: {
      text: written ? "decode_more" : "decode_act",
      busy: state.status !== "idle",
      run: () => /** @type {HTMLElement | null} */ (document.querySelector("#step"))?.click(),
    },
    numbers: {
      ...shapeOf(trace),
      at: whole(at),
      piece: piece(trace.tokens.pieces[at]),
      held: whole(held),
      wrote: bytes(taken(trace, 1)),
      read: bytes(heldBytes(trace, held)),
      n_prompt: whole(trace.nPrompt),
      n_written: whole(trace.T - trace.nPrompt),
    },
  };
}

function kept(_glass, trace) {
  const {
    model: { n_layers: layers },
    T,
  } = trace;
  const size = elementBytes(trace);
  return {
    say: formOf(trace),
    asks: "",
    answers: formOf(trace),
    numbers: {
      ...shapeOf(trace),
      held: whole(T),
      cells: whole(layers * T),
      size: whole(size),
      cell: bytes(keptNumbers(trace) * size),
      own: bytes(taken(trace, T)),
      total: bytes(heldBytes(trace, T)),
      per_token: bytes(taken(trace, 1)),
    },
  };
}

function query(_glass, trace) {
  const { n_layers: layers, n_heads: heads, head_dim: width } = trace.model;
  const at = trace.T - 1;
  return {
    say: formOf(trace),
    answers: formOf(trace),
    asks: "",
    numbers: {
      ...shapeOf(trace),
      at: whole(at),
      piece: piece(trace.tokens.pieces[at]),
      next: whole(at + 1),
      query: bytes(layers * heads * width * elementBytes(trace)),
      percent: whole(Math.round((100 * heads * width) / keptNumbers(trace))),
      per_token: bytes(taken(trace, 1)),
    },
  };
}

/**
 * Of what is kept of a source alone: the two matrices that make it, once, and what they would come to token by
 * token.
 *
 * @param {Trace} trace
 */
function savesOfSource(_glass, trace) {
  const { n_layers: layers, n_kv_heads: kv, head_dim: width, d_model: d } = trace.model;
  const once = layers * 2 * d * kv * width * trace.encoder.T;
  return {
    numbers: {
      ...shapeOf(trace),
      d: whole(d),
      rows: whole(kv * width),
      once: millions(once),
      held: whole(trace.T),
      all: millions(once * trace.T),
    },
  };
}

/** Of the last token that was measured; before that, of the one after the prompt, as the panel will count it. */
function saves(glass, trace) {
  const race = raceOf(glass);
  race.follow(trace);
  const last = race.steps.at(-1);
  const n = last?.tokens ?? trace.nPrompt;
  const [cached, full] = [workOf(trace.model, 1, n), workOf(trace.model, n, (n * (n + 1)) / 2)];
  return {
    say: latentOf(trace) ? "_latent" : "",
    asks: last ? "_measured" : "",
    act: { text: "saves_act", busy: race.running || trace.generating, run: () => race.start(false) },
    numbers: {
      n_tokens: whole(n),
      cached_work: millions(cached),
      full_work: millions(full),
      ratio: factor(full / cached),
      n_measured: whole(race.steps.length),
      cached_time: milliseconds(last?.cached_seconds ?? 0),
      full_time: milliseconds(last?.full_seconds ?? 0),
      time_ratio: factor(last ? last.full_seconds / last.cached_seconds : 1),
      device: words(trace.model.device),
    },
  };
}

function grows(glass, trace) {
  const live = trace.generating ? null : glass.detail("kv_live");
  if (!live) return null;
  const { max_context: context } = trace.model;
  return {
    say: formOf(trace),
    asks: sourceForm(trace),
    answers: sourceForm(trace),
    numbers: {
      ...shapeOf(trace),
      size: whole(elementBytes(trace)),
      per_token: bytes(taken(trace, 1)),
      held: whole(trace.T),
      own: bytes(taken(trace, trace.T)),
      total: bytes(heldBytes(trace, trace.T)),
      measured: bytes(measuredAt(trace, live, trace.T)),
      context: { value: context, text: separated(context) },
      full: bytes(taken(trace, context), "binary"),
    },
  };
}

function shares(glass, trace) {
  const live = trace.generating ? null : glass.detail("kv_live");
  if (!live) return null;
  const { n_heads: heads, n_kv_heads: kv } = trace.model;
  // Of one token, or of a source besides at as many as there are: what the panel shows then.
  const kinds = trace.encoder ? live.kinds.map((row) => grown(row, trace.T)) : live.kinds;
  const of = (kind) => kinds.find((row) => row.kind === kind);
  const size = (kind) => (of(kind)?.bytes ? bytes(Number(of(kind).bytes)) : { value: 0, text: "–" });
  const [latent, rope] = of("MLA").latent;
  const own = kinds.find((row) => row.own).kind;
  return {
    say: formOf(trace) || (own === "GQA" ? "" : "_other"),
    asks: formOf(trace),
    answers: formOf(trace),
    numbers: {
      ...shapeOf(trace),
      own: words(own),
      mha: size("MHA"),
      gqa: bytes(taken(trace, 1)),
      mqa: size("MQA"),
      mla: size("MLA"),
      latent: whole(latent),
      rope: whole(rope),
      both: whole(latent + rope),
      rows: whole(keyValueNumbers(trace)),
      ratio: factor(trace.encoder ? heads : heads / kv),
      held: whole(trace.T),
      mine: size(own),
    },
  };
}

const [BEFORE, TIMES] = [Number(FIRST.tokens), 4];
/** The calculator as it opens, whatever was set in it. */
function opening(glass) {
  const asked = question(glass);
  const now = Object.entries(asked.settings).filter(([, value]) => value !== "");
  if (now.length !== Object.keys(FIRST).length || now.some(([name, value]) => FIRST[name] !== value)) {
    asked.set({ ...Object.fromEntries(now.map(([name]) => [name, ""])), ...FIRST });
  }
}

/** The answer to the calculator's question; one press makes the text longer, the next brings it back. */
function predict(glass) {
  const asked = question(glass);
  const { answer, answered, settings } = asked;
  if (!answer || answered !== settings) return null;
  const { tokens, per_token: each, card, dtype } = answer;
  const far = tokens !== BEFORE;
  const next = BEFORE * TIMES;
  const straight = Number(each) * tokens === Number(answer.bytes); // no window that is full, no page half used
  const count = (value) => ({ value, text: separated(value) });
  const shown = far ? tokens : next;
  const beyond =
    card.max_context && shown > card.max_context
      ? glass.text("tour-cache.predict_beyond", { model: card.name, context: separated(card.max_context) })
      : "";
  const alone = answer.kinds.find(({ kind }) => kind === "MHA")?.bytes;
  return {
    say: far ? "_there" : "",
    asks: far ? "_there" : "",
    answers: straight ? (far ? "_there" : "") : "_bent",
    act: { text: far ? "predict_back" : "predict_act", run: () => asked.set({ tokens: String(far ? BEFORE : next) }) },
    numbers: {
      model: words(card.name),
      layers: whole(card.n_layers),
      heads: whole(card.n_heads),
      kv: whole(card.n_kv_heads),
      head_dim: whole(card.head_dim),
      dtype: words(dtype),
      each: bytes(Number(each)),
      tokens: count(tokens),
      bytes: bytes(Number(answer.bytes), "binary"),
      before: count(BEFORE),
      next: count(next),
      beyond: words(beyond),
      next_bytes: bytes(next * Number(each), "binary"),
      times: whole(TIMES),
      mha: alone ? bytes(Number(alone), "binary") : words("–"),
    },
  };
}

const atPrompt = ({ nPrompt }) => ({ query: nPrompt - 1 });
const atEnd = ({ T }) => ({ query: T - 1 });

/** Where a source is read no one text can be timed with and without a cache. */
const ofSource = (model) =>
  looksAtSource(model) && {
    panel: "kv-live",
    parts: ["sums"],
    title: "saves_source",
    texts: "saves_source",
    told: savesOfSource,
  };

/** @type {import("./stops.js").StopOf<Trace>[]} */
export const CACHE_STOPS = [
  { name: "prefill", chapter: "kv", panel: "kv-live", parts: ["grid"], select: atPrompt, told: prefill },
  { name: "decode", chapter: "kv", panel: "kv-live", parts: ["grid"], select: atEnd, told: decode },
  { name: "kept", chapter: "kv", panel: "kv-live", parts: ["grid"], select: atEnd, told: kept },
  { name: "query", chapter: "kv", panel: "kv-live", parts: ["story"], select: atEnd, told: query },
  { name: "saves", chapter: "kv", panel: "kv-race", select: atEnd, told: saves, of: ofSource },
  { name: "grows", chapter: "kv", panel: "kv-live", parts: ["sums"], select: atEnd, told: grows },
  { name: "shares", chapter: "kv", panel: "kv-kinds", select: atEnd, told: shares },
  {
    name: "predict",
    chapter: "kv",
    panel: "kv-calculator",
    parts: ["result"],
    set: opening,
    select: () => ({}),
    told: predict,
    namesChanges: false,
  },
];
