// The first screen: the text as text, the model's next word beside it, and why it is that word.

import { exact, h, share } from "../../dom.js";
import { writeNumber } from "../../marks/table.js";
import { frame } from "../../frame.js";
import { choiceAt, choiceOf, momentOf } from "../../chosen-step.js";
import { noChoice } from "../../parts.js";
import { effect, reactive } from "../../reads.js";
import { shownIn } from "../../run-for.js";
import { createMade } from "./made.js";
import { ablationOf } from "./ablation.js";
import { createMeasuring } from "./measuring.js";
import { createOutside } from "./outside.js";
import { createReadText } from "./read-text.js";
import { restsOf } from "./rests.js";
import { apart, word } from "./words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../chosen-step.js").Moment} Moment
 *
 * @typedef {import("./answer.js").Told} Told
 */

const OTHERS = 4;
/** @type {Told} */
const NOTHING_TOLD = { rests: null, within: null, heads: null, found: null };

/**
 * What a question to the server says of a moment: the position, and the token that was written there, if any.
 *
 * @param {Moment} moment
 */
const questionOf = ({ at, token }) => ({ token: at, ...(token && { target: token.id }) });

/** How heads are ablated, where it is not as usual. @param {Glass} glass */
const ablationAsked = (glass) => (ablationOf(glass) === "zero" ? { ablation: "zero" } : {});

/** @type {import("../../frame.js").About} */
export const about = { tensors: ["attention", "logits"], sides: "itself", absent: noChoice };

/**
 * While the answer is closed: the word and what else was offered, as a file holds them.
 *
 * @param {Glass} glass
 * @returns {(string | number)[][]}
 */
function offeredTable(glass) {
  const state = shownIn(glass);
  const choice = choiceOf(glass, state.trace, momentOf(state), OTHERS);
  const offered = choice ? [choice.own, ...choice.others] : [];
  return [["id", "piece", "probability"], ...offered.map(({ id, piece, probability }) => [id, piece, probability])];
}

/**
 * The model's next word, how probable it is, and what else was offered.
 *
 * @param {Glass} glass
 * @param {import("../../types.d.ts").Say} panelText
 */
function createNext(glass, panelText) {
  const chosen = h("strong.wy-word");
  const sure = h("span.wy-sure");
  const others = h("p.wy-others");
  const element = h("div.wy-next", null, h("p.wy-choice", null, chosen, sure), others);

  /**
   * Of B − A, both runs' words.
   *
   * @param {Moment} moment
   * @returns {import("../../chosen-step.js").Candidate | null} the word; null until it has come
   */
  function draw(moment) {
    const { trace: shown, side } = shownIn(glass);
    const of = (/** @type {Trace} */ trace) =>
      choiceOf(glass, trace, choiceAt(trace, Math.min(moment.at, trace.T - 1)), OTHERS);
    const sides = side === "B-A" ? glass.sides() : null;
    const now = of(shown);
    if (!now) return null;
    const first = sides && of(sides.A);
    chosen.textContent = first ? `${word(first.own.piece)} → ${word(now.own.piece)}` : word(now.own.piece);
    const own = share(now.own.probability);
    writeNumber(sure, first ? `A ${share(first.own.probability)} · B ${own}` : own);
    const pieces = [now.own, ...now.others].map(({ piece }) => piece);
    const [, ...names] = apart(glass.text, pieces);
    // one does not stand without the other
    const rest = now.others.map(({ probability }, i) => `${names[i]}\u00a0${share(probability)}`);
    writeNumber(others, `${panelText("others")} ${rest.join(" · ")}`);
    return now.own;
  }
  return { element, draw };
}

/**
 * Why it is that word: fetched when the reader asks for the first time.
 *
 * @param {Glass} glass
 * @param {HTMLElement} place that the answer is added to
 */
function createLateAnswer(glass, place) {
  /** @type {{ answer: ReturnType<typeof import("./answer.js").createAnswer> | null }} once it has come */
  const view = reactive({ answer: null }, glass.repaint);
  const measuring = createMeasuring(glass);
  let [asked, leading] = [false, false];
  async function fetchAnswer() {
    if (asked) return;
    asked = true;
    // together, or the one waits for the other
    const [{ createAnswer }] = await Promise.all([import("./answer.js"), import("./how.js"), import("./matching.js")]);
    const made = createAnswer(glass, () => momentOf(shownIn(glass)), measuring.toggle);
    glass.translate(made.element);
    place.append(made.element);
    if (leading) made.lead();
    view.answer = made;
  }
  /**
   * The selection is to go where the answer leads, or no longer.
   *
   * @param {boolean} open
   */
  function lead(open) {
    leading = open;
    if (open) view.answer?.lead();
  }
  /**
   * @param {boolean} open
   * @param {Told} told
   * @param {boolean} fresh
   */
  function draw(open, told, fresh) {
    if (open) fetchAnswer();
    view.answer?.draw(open, told, fresh);
  }
  return { made: () => view.answer, follow: measuring.follow, lead, draw };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function why(element, glass) {
  const { settings } = glass;
  const state = shownIn(glass);
  const isOpen = () => settings.get("why").open === "1";
  const panel = frame(element, glass, "why", {
    csv: () => (isOpen() && answer.made()?.table()) || offeredTable(glass),
    parts: ["what", "formula", "myth"],
    pointed: false,
  });
  const answer = createLateAnswer(glass, panel.body);
  const text = createReadText(glass, panel.text);
  const next = createNext(glass, panel.text);
  const made = createMade(glass);
  const ask = h("button.wy-ask", { "aria-expanded": "false", click: toggle });
  const outside = createOutside(glass);
  panel.body.append(
    h("div.wy-stage", { "data-part": "answer" }, text.element, next.element, outside.element, made.element, ask),
  );

  let last = glass.state.trace?.prompt;
  glass.on("run", (/** @type {Trace} */ { prompt }) => {
    // a text to compare with belongs to its prompt
    if (last !== undefined && prompt !== last) settings.set("why", { open: settings.get("why").open ?? "" });
    last = prompt;
  });
  function toggle() {
    const open = !isOpen();
    settings.set("why", { ...settings.get("why"), open: open ? "1" : "" });
    answer.lead(open);
    glass.repaint();
  }

  /**
   * What is told of a moment, as far as it has come. The heads take longer: they are asked for once the first
   * answer is there, and what all of them say is told then.
   *
   * @param {Moment} moment
   * @returns {Told}
   */
  function askAbout(moment) {
    const told = glass.detail("rests", questionOf(moment));
    const rests = restsOf(told);
    const within = rests && (answer.made()?.within(rests, questionOf(moment)) ?? { shown: rests, windows: null });
    const question = { ...questionOf(moment), ...ablationAsked(glass) };
    const heads = rests ? answer.follow(question) : null;
    const found = told && (!heads || heads.complete) ? glass.detail("why", question) : null;
    return { rests, within, heads, found };
  }

  return effect(function draw(fresh) {
    const open = isOpen();
    const moment = momentOf(state);
    const own = next.draw(moment);
    const asking = open && state.status !== "generating";
    const told = asking ? askAbout(moment) : NOTHING_TOLD;
    const { rests, within, found } = told;
    const looked = rests ? null : found;
    text.draw({
      query: rests || found ? moment.at : -1,
      key: looked ? looked.look.key : -1,
      inSource: looked?.look.kind === "cross",
      strange: outside.draw(),
      rests: within?.shown ?? null,
    });
    panel.title.textContent = panel.text(moment.token ? "title_written" : "title");
    ask.textContent = panel.text(open ? "close" : "ask", { piece: word(own?.piece ?? "…") });
    ask.setAttribute("aria-expanded", String(open));
    answer.draw(open, told, fresh);
    made.draw(moment);
    if (!own) return;
    const looks = answer.made()?.tell(found, within?.shown ?? null) ?? "";
    panel.tell(`after ${moment.at} answer ${own.id} '${own.piece}' probability=${exact(own.probability)}${looks}`);
  });
}
