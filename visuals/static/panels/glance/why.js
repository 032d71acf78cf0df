// The first screen: the text as text, the model's next word beside it, and why it is that word.

import { shownTokens } from "../../characters.js";
import { exact, h, share } from "../../dom.js";
import { frame } from "../../frame.js";
import { choiceAt, choiceOf, momentOf, placeOfToken } from "../../chosen-step.js";
import { noChoice } from "../../parts.js";
import { effect, memo, reactive } from "../../reads.js";
import { createMade } from "./made.js";
import { createOutside, strangeAt } from "./outside.js";
import { apart, word } from "./words.js";

const OTHERS = 4;

/** What a question to the server says of a moment: the position, and the token that was written there, if any. */
const questionOf = ({ at, token }) => ({ token: at, ...(token && { target: token.id }) });

export const about = { tensors: ["attention", "logits"], sides: "itself", absent: noChoice };

/**
 * A piece with its word in a frame; the blank before it stands outside.
 *
 * @param {string} marks classes
 * @returns {(string | Element)[]}
 */
function framed(piece, marks, attributes = {}) {
  const blank = piece.length - piece.trimStart().length;
  return [piece.slice(0, blank), h(`span${marks}`, attributes, piece.slice(blank))];
}

/**
 * A text as it is read, each part with the tokens that hold it.
 *
 * @param {string[]} pieces
 * @returns {{ text: string; tokens: number[] }[]}
 */
function partsOf(pieces) {
  const shown = shownTokens(pieces.map((piece, position) => ({ piece, position })));
  const endOf = (i) => shown[i + 1]?.position ?? pieces.length;
  return shown.map(({ position, text }, i) => ({
    text,
    tokens: Array.from({ length: endOf(i) - position }, (_, t) => position + t),
  }));
}

/**
 * @param {HTMLElement} element
 * @param {import("../../types.d.ts").Glass} glass
 */
export default function why(element, glass) {
  const { state } = glass;
  const setting = (name) => glass.settings.get("why")[name] ?? "";
  const view = reactive({ answer: null }, glass.repaint); // what answers, once it has come
  let [asked, leading] = [false, false];
  async function fetchAnswer() {
    if (asked) return;
    asked = true;
    // together, or the one waits for the other
    const [{ createAnswer }] = await Promise.all([import("./answer.js"), import("./matching.js")]);
    const made = createAnswer(glass, () => momentOf(state));
    glass.translate(made.element);
    panel.body.append(made.element);
    if (leading) made.lead();
    view.answer = made;
  }
  /** While the answer is closed: the word and what else was offered. */
  const table = () => {
    const { own, others: rest } = choiceOf(glass, state.trace, momentOf(state), OTHERS) ?? { others: [] };
    return [
      ["id", "piece", "probability"],
      ...[...(own ? [own] : []), ...rest].map(({ id, piece, probability }) => [id, piece, probability]),
    ];
  };
  const panel = frame(element, glass, "why", {
    csv: () => (setting("open") === "1" && view.answer ? view.answer.table() : table()),
    parts: ["what", "formula", "myth"],
    pointed: false,
  });
  const [before, written] = [h("span"), h("span")];
  const text = h("p.wy-text", { dir: "auto" }, before, written);
  const chosen = h("strong.wy-word");
  const sure = h("span.wy-sure");
  const others = h("p.wy-others");
  const made = createMade(glass);
  const ask = h("button.wy-ask", { "aria-expanded": "false", click: toggle });
  const outside = createOutside(glass);
  panel.body.append(
    h(
      "div.wy-stage",
      { "data-part": "answer" },
      text,
      h("div.wy-next", null, h("p.wy-choice", null, chosen, sure), others),
      outside.element,
      made.element,
      ask,
    ),
  );

  let last = state.trace?.prompt;
  glass.on("run", ({ prompt }) => {
    // a text to compare with belongs to its prompt
    if (last !== undefined && prompt !== last) glass.settings.set("why", { open: setting("open") });
    last = prompt;
  });
  function toggle() {
    const open = setting("open") !== "1";
    glass.settings.set("why", { ...glass.settings.get("why"), open: open ? "1" : "" });
    leading = open;
    if (open) view.answer?.lead();
    glass.repaint();
  }
  text.addEventListener("click", ({ target }) => {
    const pressed = /** @type {Element} */ (target).closest?.("[data-position]");
    const position = /** @type {HTMLElement | null} */ (pressed)?.dataset.position;
    if (position !== undefined) glass.select({ query: placeOfToken(state.trace, Number(position)) });
  });

  /** Of two texts the one that was read stands before the one that is written, whose start token is none of it. */
  const source = memo((encoder, key) => {
    const { pieces, ids } = encoder?.tokens ?? { pieces: [], ids: [] };
    const hidden = (t) => encoder.model.eos_ids.includes(ids[t]) && t !== key;
    const read = partsOf(pieces).flatMap(({ text: words, tokens }) =>
      tokens.every(hidden) ? [] : framed(words, tokens.includes(key) ? ".is-key" : ""),
    );
    before.replaceChildren(...(encoder ? [h("span", null, ...read), " → "] : []));
  });
  const write = memo((pieces, nPrompt, query, key, strange, begun, _language) => {
    written.replaceChildren(
      ...partsOf(pieces).flatMap(({ text: words, tokens }) => {
        const last = tokens.at(-1);
        if (last < begun) return [];
        const kind = tokens.includes(query) ? ".is-query" : tokens.includes(key) ? ".is-key" : "";
        const odd = Math.max(...tokens.map((t) => strangeAt(strange, t)));
        // for who hears the text
        const said = odd === 2 ? [h("span.gp-hidden.wy-aside", null, ` ${panel.text("outside_mark")}`)] : [];
        return [
          ...framed(words, `${kind}${last >= nPrompt ? ".is-written" : ""}${odd ? ".is-strange" : ""}`, {
            "data-position": last,
          }),
          ...said,
        ];
      }),
    );
    requestAnimationFrame(follow);
  });

  /**
   * Of a text that is longer than its room, what is seen ends with the place that is asked about, else with the
   * text.
   */
  function follow() {
    const last = /** @type {HTMLElement | null} */ (text.querySelector(".is-query") ?? written.lastElementChild);
    if (last) text.scrollTop = last.offsetTop + last.offsetHeight - text.offsetTop - text.clientHeight;
  }

  /** What is said of the word: of B − A, both runs' words. */
  function offer(moment) {
    const of = (trace) => choiceOf(glass, trace, choiceAt(trace, Math.min(moment.at, trace.T - 1)), OTHERS);
    const sides = state.side === "B-A" ? glass.sides() : null;
    const now = of(state.trace);
    if (!now) return null;
    const first = sides && of(sides.A);
    chosen.textContent = first ? `${word(first.own.piece)} → ${word(now.own.piece)}` : word(now.own.piece);
    sure.textContent = first
      ? `A ${share(first.own.probability)} · B ${share(now.own.probability)}`
      : share(now.own.probability);
    const [, ...names] = apart(
      glass.text,
      [now.own, ...now.others].map(({ piece }) => piece),
    );
    // one does not stand without the other
    const rest = now.others.map(({ probability }, i) => `${names[i]}\u00a0${share(probability)}`);
    others.textContent = `${panel.text("others")} ${rest.join(" · ")}`;
    return now.own;
  }

  return effect(function draw() {
    const { trace, status } = state;
    const open = setting("open") === "1";
    const moment = momentOf(state);
    const own = offer(moment);
    const found = open && status !== "generating" ? glass.detail("why", questionOf(moment)) : null;
    const [key, inSource] = found ? [found.look.key, found.look.kind === "cross"] : [-1, false];
    source(trace.encoder, inSource ? key : -1);
    write(
      trace.tokens.pieces,
      trace.nPrompt,
      found ? moment.at : -1,
      inSource ? -1 : key,
      outside.draw(),
      trace.encoder ? trace.nPrompt : 0,
      state.language,
    );
    panel.title.textContent = panel.text(moment.token ? "title_written" : "title");
    ask.textContent = panel.text(open ? "close" : "ask", { piece: word(own?.piece ?? "…") });
    ask.setAttribute("aria-expanded", String(open));
    if (open) fetchAnswer();
    view.answer?.draw(open, found);
    made.draw(moment);
    if (!own) return;
    const looks = view.answer?.tell(found) ?? "";
    panel.tell(`after ${moment.at} answer ${own.id} '${own.piece}' probability=${exact(own.probability)}${looks}`);
  });
}
