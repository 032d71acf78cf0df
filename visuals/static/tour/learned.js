// The tour of how the model learned: its stops, and what they read from the training log and the evaluation beside its
// weights.

import { runPrompt } from "../panels/attend/run-prompt.js";
import { topCandidates } from "../compute.js";
import { momentOf, offeredOf } from "../chosen-step.js";
import { chance, percent, piece, plain, whole, words } from "./numbers.js";

/**
 * @typedef {{
 *   stages: { number: number; name: string; tokens: number }[];
 *   log: [string, number, number, number][];
 *   answers: { data: { name: string; x: number[]; y: number[] }[] } | null;
 *   measured: { name: string; language: string; right: number; cases: number; bar: number }[];
 * }} Training
 *   the detail "training"
 */
const KNOWN = 0.9; // from this share of right answers on, for the first time, a skill counts as learned
const MILLION = 1e6;

/**
 * The record of a training whose answers were looked at more than once; null until it has come.
 *
 * @returns {Training | null | false}
 */
function recordOf(glass) {
  const found = glass.detail("training");
  return found && (found.log.length > 0 && inductionOf(found) ? found : false);
}

/** Whether there is a log that this tour can speak of; null while that is not known. */
export function hasLog(glass) {
  const found = recordOf(glass);
  return found === null ? null : Boolean(found);
}

/**
 * The skills that were looked at twice or more, as the chart draws them.
 *
 * @param {Training} found
 */
const linesOf = ({ answers }) =>
  (answers?.data ?? [])
    .filter(({ x }) => x.length > 1)
    .map(({ name, x, y }) => ({ name, tokens: x.map((one) => Math.round(one * MILLION)), shares: y }));

const inductionOf = (found) => linesOf(found).find(({ name }) => name.endsWith("skill_induction"));

/** A name that may be one of the page's texts. */
const named = (glass, name) => (name.startsWith("text:") ? glass.text(name.slice("text:".length)) : name);

/**
 * The stage in which so many tokens had been read; null for a training without named stages.
 *
 * @param {Training} found
 */
const stageAt = ({ stages }, tokens) => stages.findLast((stage) => stage.tokens < tokens) ?? null;

const listOf = (glass, names) => names.join(glass.text("tour-learned.comma"));
/** A count of tokens, in millions. */
const millionOf = (tokens) => ({ value: tokens, text: plain(tokens / MILLION, 3).text });
const nats = (value) => plain(value, 4);
/** The mean probability that a loss stands for: e to the power of −loss. */
const meanOf = (loss) => percent(Math.exp(-loss));

/** Where in the training something was: the tokens read, and the stage where there are any. */
function when(glass, found, tokens) {
  const stage = stageAt(found, tokens);
  const millions = millionOf(tokens).text;
  return glass.text(stage ? "tour-learned.when_stage" : "tour-learned.when", {
    millions,
    stage: stage ? named(glass, stage.name) : "",
  });
}

/**
 * @param {(
 *   glass: import("../types.d.ts").Glass,
 *   found: Training,
 *   trace: object,
 * ) => import("./stops.js").Told | null} tell
 */
const fromRecord = (tell) => (glass, trace) => {
  const found = recordOf(glass);
  return found ? tell(glass, found, trace) : null;
};

function corpus(glass, found, { model }) {
  const read = found.log.at(-1)[1];
  const names = found.stages.map(({ name }) => named(glass, name));
  return {
    say: names.length > 1 ? "" : "_one",
    asks: "",
    answers: "",
    numbers: {
      read: millionOf(read),
      n_stages: whole(names.length),
      stages: words(listOf(glass, names)),
      parameters: { value: model.n_parameters, text: plain(model.n_parameters / MILLION, 3).text },
      each: plain(read / model.n_parameters, 3),
      vocab: whole(model.vocab_size),
    },
  };
}

/**
 * Where the loss rose most above what it was when a stage began; null where it never did.
 *
 * @param {Training} found
 */
export function riseOf({ stages, log }) {
  const rises = stages.map(({ number, name, tokens }, i) => {
    const end = stages[i + 1]?.tokens ?? Infinity;
    const before = log.findLast(([, read]) => read <= tokens)?.[3] ?? Infinity;
    return {
      number,
      name,
      before,
      top: Math.max(...log.filter(([, read]) => read > tokens && read <= end).map((line) => line[3])),
    };
  });
  const most = rises.reduce((best, one) => (best && best.top - best.before >= one.top - one.before ? best : one), null);
  return most && most.top > most.before ? most : null;
}

function loss(glass, found, { model }) {
  const [first, last] = [found.log[0], found.log.at(-1)];
  const rise = riseOf(found);
  const blind = Math.log(model.vocab_size);
  return {
    numbers: {
      vocab: whole(model.vocab_size),
      blind: nats(blind),
      p_blind: percent(1 / model.vocab_size, 3),
      first: nats(first[3]),
      first_read: millionOf(first[1]),
      last: nats(last[3]),
      last_read: millionOf(last[1]),
      rise: words(
        rise
          ? glass.text("tour-learned.loss_rise", {
              number: rise.number,
              stage: named(glass, rise.name),
              before: nats(rise.before).text,
              top: nats(rise.top).text,
            })
          : "",
      ),
      p_first: meanOf(first[3]),
      p_last: meanOf(last[3]),
    },
  };
}

/**
 * Every skill with when it was learned, the earliest first; those that never were come last.
 *
 * @param {Training} found
 */
export function learnedOf(found) {
  const all = linesOf(found).map(({ name, tokens, shares }) => {
    const at = shares.findIndex((share) => share >= KNOWN);
    return { name, tokens: at < 0 ? Infinity : tokens[at], last: shares.at(-1) };
  });
  return all.sort((a, b) => a.tokens - b.tokens || 0);
}

function skills(glass, found) {
  const all = learnedOf(found);
  const known = all.filter(({ tokens }) => tokens < Infinity);
  const never = all.filter(({ tokens }) => tokens === Infinity);
  const line = ({ name, tokens }) =>
    glass.text("tour-learned.skill_when", { skill: named(glass, name), when: when(glass, found, tokens) });
  const looks = linesOf(found).flatMap(({ tokens }) => tokens);
  return {
    asks: "",
    answers: !known.length ? "_none" : never.length ? "_some" : "",
    numbers: {
      n_skills: whole(all.length),
      bar: percent(KNOWN, 0),
      known: words(known.map(line).join(glass.text("tour-learned.semicolon"))),
      never: words(
        listOf(
          glass,
          never.map((one) =>
            glass.text("tour-learned.skill_share", { skill: named(glass, one.name), share: percent(one.last).text }),
          ),
        ),
      ),
      n_known: whole(known.length),
      from: millionOf(Math.min(...looks)),
      to: millionOf(Math.max(...looks)),
    },
  };
}

/** Between which two readings a skill grew most; `from` null where it was there at the first one. */
export function leapOf({ tokens, shares }) {
  let best = { at: 0, by: shares[0] };
  shares.forEach((share, i) => {
    if (i && share - shares[i - 1] > best.by) best = { at: i, by: share - shares[i - 1] };
  });
  const { at } = best;
  const reading = (i) => ({ tokens: tokens[i], share: shares[i] });
  return { from: at ? reading(at - 1) : null, to: reading(at), end: reading(shares.length - 1) };
}

function induction(glass, found) {
  const line = inductionOf(found);
  const { from, to, end } = leapOf(line);
  return {
    say: from ? "" : "_first",
    asks: "",
    answers: "",
    numbers: {
      skill: words(named(glass, line.name)),
      share: percent(to.share),
      when: words(when(glass, found, to.tokens)),
      read: millionOf(to.tokens),
      before: percent(from?.share ?? 0),
      before_read: millionOf(from?.tokens ?? 0),
      end: percent(end.share),
    },
  };
}

function cannot(glass, { measured }) {
  if (!measured.length) return { say: "_none", numbers: {} };
  const of = ({ right, cases }) => right / cases;
  const short = measured.filter((line) => of(line) < line.bar);
  const worst = measured.reduce((a, b) => (of(b) < of(a) ? b : a));
  return {
    say: "",
    asks: "",
    answers: short.length ? "" : "_all",
    numbers: {
      lines: whole(measured.length),
      n_short: whole(short.length),
      met: whole(measured.length - short.length),
      skill: words(glass.text(`training.skill_${worst.name}`)),
      language: words(glass.text(`training.language_${worst.language}`)),
      right: whole(worst.right),
      cases: whole(worst.cases),
      share: percent(of(worst)),
      bar: percent(worst.bar),
      wrong: whole(Math.round(100 * (1 - of(worst)))),
    },
  };
}

/** The end of the text that is gone on with: of two the end of the one that is read, as nothing may be written yet. */
function lastOf({ encoder, tokens: { pieces } }, at) {
  return encoder
    ? encoder.tokens.pieces.filter((_, t) => !encoder.model.eos_ids.includes(encoder.tokens.ids[t])).at(-1)
    : pieces[at];
}

function attempt(glass, trace) {
  const next = offeredOf(glass, momentOf(glass.state));
  if (!next || trace.generating) return null;
  const {
    rows: [one, two],
  } = topCandidates(next, 2);
  const sequence = glass.text("tour-learned.sequence");
  const there = trace.prompt === sequence;
  return {
    say: there ? "_there" : "",
    asks: there ? "_there" : "",
    answers: there ? "_there" : "",
    act: there
      ? undefined
      : { text: "attempt_act", busy: glass.state.status !== "idle", run: () => runPrompt(glass, sequence, {}) },
    numbers: {
      last: piece(lastOf(trace, momentOf(glass.state).at)),
      one: piece(one.piece),
      p_one: chance(one.probability),
      two: piece(two.piece),
      p_two: chance(two.probability),
      sequence: words(sequence),
    },
  };
}

const nowhere = () => ({});
const ofTraining = (name, parts, told) => ({
  name,
  chapter: "overview",
  panel: "training",
  parts,
  select: nowhere,
  told: fromRecord(told),
  namesChanges: false,
});

/** @type {import("./stops.js").StopOf<import("../decode.js").Trace>[]} */
export const LEARNED_STOPS = [
  ofTraining("corpus", [], corpus),
  ofTraining("loss", ["loss"], loss),
  ofTraining("skills", ["answers"], skills),
  ofTraining("induction", ["answers"], induction),
  ofTraining("cannot", ["measured"], cannot),
  { name: "attempt", chapter: "glance", panel: "next", select: ({ T }) => ({ query: T - 1 }), told: attempt },
];
