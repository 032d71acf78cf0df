// The first screen: the text as text, the model's next word beside it, and why it is that word.

import { shareSaid } from "../../counts.js";
import { share } from "../../dom.js";
import { frame } from "../../frame.js";
import { glossed, glossOf } from "../../gloss.js";
import { askedOf, choiceAt, choiceOf, hasEnded, momentOf } from "../../chosen-step.js";
import { noChoice } from "../../parts.js";
import { effect, reactive } from "../../reads.js";
import { askRests, restsOf } from "../../readings/rests.js";
import { whyReader } from "../../readings/why.js";
import { shownIn } from "../../run-for.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { createMade } from "./made.js";
import { ablationOf } from "./ablation.js";
import { createMeasuring } from "./measuring.js";
import { createOutside } from "./outside.js";
import { createReadText } from "./read-text.js";
import { isInWindow } from "./windows.js";
import { apart, askedWhy, word } from "./words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../decode.js").Trace} Trace
 *
 * @typedef {import("../../chosen-step.js").Moment} Moment
 *
 * @typedef {import("../../readings/why.js").WhyReading} WhyReading
 *
 * @typedef {import("./measuring.js").Heads} Heads
 *
 * @typedef {{
 *   details: Record<string, unknown>;
 *   heads: Heads | null;
 *   part: import("../../readings/rests.js").Part | null;
 * }} Told
 *   what has come of what is told, and how far the heads are measured; `part`: how far the tokens of a long text are
 */

const OTHERS = 4;

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
 * The model's next word, how probable it is, and what else was offered; of B − A, both runs' words.
 *
 * @param {Glass} glass
 * @param {import("../../types.d.ts").Say} panelText
 * @param {WhyReading | null} reading
 */
function nextView(glass, panelText, reading) {
  const now = reading?.own;
  if (!now) return html`<div class="wy-next"></div>`;
  const sides = shownIn(glass).side === "B-A" ? glass.sides() : null;
  const first = sides && choiceOf(glass, sides.A, choiceAt(sides.A, Math.min(reading.position, sides.A.T - 1)), OTHERS);
  const exactly = (/** @type {number[]} */ ...all) => all.map((p) => share(p)).join(" · ");
  const said = (/** @type {number} */ p) => shareSaid(glass.text, p);
  const isOther = first !== null && word(first.own.piece) !== word(now.piece); // each is said with its word then
  const sureOf = (/** @type {{ piece: string; probability: number }} */ { piece, probability }) =>
    isOther ? `${glass.text("why.token", { piece: word(piece) })} ${said(probability)}` : said(probability);
  const sure = first ? `A ${sureOf(first.own)} · B ${sureOf(now)}` : said(now.probability);
  const [, ...names] = apart(
    glass.text,
    [now, ...reading.offered].map(({ piece }) => piece),
  );
  // one does not stand without the other
  const gloss = glossOf(glass);
  const rest = reading.offered.map(
    ({ piece, probability }, i) => `${names[i]}${gloss(piece)}\u00a0${said(probability)}`,
  );
  const others = exactly(...reading.offered.map(({ probability }) => probability));
  const chosen = first ? `${word(first.own.piece)} → ${word(now.piece)}` : word(now.piece);
  return html`
    <div class="wy-next" data-answer>
      <p class="wy-choice" data-result=${`${chosen} ${sure}`}>
        <strong class="wy-word">${glossed(chosen, first ? "" : gloss(now.piece))}</strong
        ><span
          class="wy-sure"
          title=${exactly(...(first ? [first.own.probability] : []), now.probability)}
          .textContent=${sure}
        ></span>
      </p>
      <p class="wy-others" title=${others}>
        ${panelText(first ? "others_of_b" : "others")}
        ${rest.map((words) => html`<span .textContent=${words}></span> `)}
      </p>
    </div>
  `;
}

/**
 * Why it is that word: fetched when the reader asks for the first time.
 *
 * @param {Glass} glass
 */
function createLateAnswer(glass) {
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
    // as when it is asked for, where it opens with the page
    if (leading || !(glass.chosen() || glass.state.presenting)) made.lead();
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
   * @param {WhyReading} reading
   * @param {Told} told
   * @param {boolean} fresh
   */
  function draw(reading, told, fresh) {
    if (isOpen(glass)) fetchAnswer();
    view.answer?.draw(reading, told, fresh);
  }
  return { made: () => view.answer, follow: measuring.follow, lead, draw };
}

/** @param {Glass} glass */
const isOpen = ({ settings }) => settings.get("why").open === "1";

/**
 * What is asked of a moment, one question after the other: the heads take longer, so they are asked for once the
 * first answer is there, and what all of them say once they are measured.
 *
 * @param {Glass} glass
 * @param {Moment} moment
 * @param {(question: { token: number; target?: number; ablation?: string }) => Heads} follow measures the heads
 * @returns {Told}
 */
function askAbout(glass, moment, follow) {
  const [plain, question] = [questionOf(moment), { ...questionOf(moment), ...ablationAsked(glass) }];
  const { found: rests, part } = askRests(glass, plain);
  const isMeasured = restsOf(rests) !== null;
  const windows = isMeasured && isInWindow(glass) ? glass.detail("windows", plain) : null;
  const heads = isMeasured ? follow(question) : null;
  const why = rests && (!heads || heads.complete) ? glass.detail("why", question) : null;
  return { details: { rests, windows, heads: heads?.part, why }, heads, part: rests ? null : part };
}

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function why(element, glass) {
  const { settings } = glass;
  const state = shownIn(glass);
  const panel = frame(element, glass, "why", { parts: ["what", "formula", "myth"], pointed: false });
  const answer = createLateAnswer(glass);
  const text = createReadText(glass, panel.text);
  const made = createMade(glass);
  const outside = createOutside(glass);

  /** @param {WhyReading | null} reading */
  const asked = (reading) => askedWhy(glass.text, shownIn(glass).trace?.model ?? { eos_ids: [] }, reading?.own ?? null);

  /** @param {WhyReading | null} reading null before there is a run */
  function view(reading) {
    const open = isOpen(glass);
    return html`
      <div class="wy-stage" data-part="answer">
        ${text.element} ${nextView(glass, panel.text, reading)} ${outside.element} ${made.element}
        <button
          class="wy-ask"
          data-answer="beside"
          aria-expanded=${String(open)}
          @click=${toggle}
          .textContent=${open ? panel.text("close") : asked(reading)}
        ></button>
      </div>
      ${answer.made()?.element ?? nothing}
    `;
  }
  render(view(null), panel.body);

  let last = glass.state.trace?.prompt;
  glass.on("run", (/** @type {Trace} */ { prompt }) => {
    // a text to compare with belongs to its prompt
    if (last !== undefined && prompt !== last) settings.set("why", { open: settings.get("why").open ?? "" });
    last = prompt;
  });
  function toggle() {
    const open = !isOpen(glass);
    settings.set("why", { ...settings.get("why"), open: open ? "1" : "" });
    answer.lead(open);
    glass.repaint();
  }

  /**
   * @param {Moment} moment
   * @param {Told} told
   */
  function readNow(moment, { details }) {
    const [token, asked] = moment.kind === "end" ? [null, null] : [moment.at, askedOf(moment)];
    const offered = asked && glass.detail("next", asked);
    const open = isOpen(glass) && answer.made() !== null;
    const { window } = settings.get("why");
    const run = { trace: state.trace, details: { offered, ...(open && details) } };
    return whyReader.read(run, { token, others: OTHERS, open, window });
  }

  return effect(function draw(fresh) {
    const moment = momentOf(state);
    const asking = isOpen(glass) && state.status !== "generating";
    const told = asking ? askAbout(glass, moment, answer.follow) : { details: {}, heads: null, part: null };
    const reading = readNow(moment, told);
    const { rests, found, own } = reading;
    const looked = rests ? null : found;
    text.draw({
      query: rests || found ? moment.at : -1,
      key: looked ? looked.look.key : -1,
      inSource: looked?.look.kind === "cross",
      strange: outside.draw(),
      rests,
    });
    const isEnd = hasEnded(state.trace) && moment.token?.position === state.trace.T - 1;
    panel.title.textContent = panel.text(isEnd ? "title_ended" : moment.token ? "title_written" : "title");
    render(view(reading), panel.body);
    answer.draw(reading, told, fresh);
    made.draw(moment);
    if (own) panel.show(reading, "");
  });
}
