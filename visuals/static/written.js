// What was written after the prompt, as text that can be selected and copied, word by word at the reader's pace: the
// strip's tokens are buttons.

import { shownTokens, sourceTokens, textOf } from "./characters.js";
import { copyButton } from "./controls.js";
import { h } from "./dom.js";
import { STORY } from "./level.js";
import { placeOfToken } from "./chosen-step.js";
import { createPaceBar } from "./reading-speed-bar.js";

/**
 * What the model wrote, as far as it came, without the tokens that end a text.
 *
 * @param {import("./decode.js").Trace} trace
 */
export function writtenText({ model, tokens: { ids, pieces }, nPrompt, T, steps }) {
  const all = [...pieces.map((piece, t) => ({ id: ids[t], piece })).slice(nPrompt), ...steps.slice(T - nPrompt)];
  return textOf(all.filter(({ id }) => !model.eos_ids.includes(id)).map(({ piece }) => piece));
}

/**
 * Whether a text's last token is one that ends it.
 *
 * @param {import("./decode.js").Trace} trace
 */
const hasEnded = ({ model, tokens: { ids }, T }) => model.eos_ids.includes(ids[T - 1]);

/** @typedef {{ position: number | string; text: string }} Shown a token, or several that hold one character */

/**
 * Keeps the elements of a text in step with its tokens: what stays of it stays selected.
 *
 * @param {HTMLElement} place
 * @param {Shown[]} tokens
 */
function fill(place, tokens) {
  /** @param {Shown} token */
  const name = ({ position, text }) => `${position} ${text}`;
  const old = /** @type {HTMLElement[]} */ (Array.from(place.children));
  const from = tokens.findIndex((token, i) => old[i]?.dataset.name !== name(token));
  const stay = from < 0 ? tokens.length : from;
  old.slice(stay).forEach((element) => element.remove());
  place.append(
    ...tokens
      .slice(stay)
      .map((token) => h("span", { "data-position": token.position, "data-name": name(token) }, token.text)),
  );
}

/**
 * @param {HTMLElement} place
 * @param {import("./types.d.ts").Glass} glass
 * @param {import("./types.d.ts").Pace} pace
 * @param {{ element: HTMLElement; draw: () => void }[]} under what stands below the text
 */
export function showWritten(place, glass, pace, under) {
  const { state } = glass;
  const [prompt, arrow, written] = [h("span"), h("span", { hidden: "" }, " → "), h("ins")];
  const text = h("p", { dir: "auto", tabindex: "0", "data-text-label": "page.written" }, prompt, arrow, written);
  text.setAttribute("role", "group");
  const bar = createPaceBar(pace, glass);
  const copy = copyButton("page-close.page-copy", glass.text, ["page.copy", "page.copied"], () => text.textContent);
  const tells = h("p.page-tells", { "data-text": "page.tells" });
  place.append(text, h("div.page-side", null, bar.element, copy), tells, ...under.map(({ element }) => element));
  glass.translate(place);

  /**
   * A click on a word goes to it; on a written one to the moment at which it was chosen. What is still being
   * written is held for that: only of a text that rests is it said what a word was chosen from.
   *
   * @param {MouseEvent} event
   */
  async function choose({ target }) {
    const element = /** @type {Element} */ (target);
    /** @type {(selector: string) => HTMLElement | null} */
    const around = (selector) => element.closest(selector);
    const position = Number(around("[data-position]")?.dataset.position ?? NaN);
    const read = Number(around("[data-position^=source]")?.dataset.position?.slice(6) ?? NaN);
    if (String(getSelection())) return undefined;
    if (!Number.isNaN(read)) return glass.readStack("encoder", { query: read });
    if (Number.isNaN(position) || !state.run) return undefined;
    await pace.hold();
    return position < state.run.T
      ? glass.readStack("decoder", { query: placeOfToken(state.run, position) })
      : undefined;
  }
  text.addEventListener("click", choose);

  function show() {
    const { run: trace } = state;
    const after = trace ? writtenText(trace) : "";
    place.hidden = after === "" && !trace?.generating;
    bar.draw();
    tells.hidden = state.chapter !== STORY || Boolean(trace?.generating);
    tells.dataset.text = trace && hasEnded(trace) ? "page.tells_ended" : "page.tells";
    tells.textContent = glass.text(tells.dataset.text);
    if (place.hidden || !trace) return;
    const {
      tokens: { ids, pieces },
      nPrompt,
      T,
      steps,
      model,
    } = trace;
    const all = [...pieces.map((piece, t) => ({ id: ids[t], piece })), ...steps.slice(T - nPrompt)].map(
      ({ id, piece }, position) => ({ id, piece, position }),
    );
    fill(prompt, trace.encoder ? sourceTokens(trace.encoder) : shownTokens(all.slice(0, nPrompt)));
    arrow.hidden = !trace.encoder;
    fill(written, shownTokens(all.slice(nPrompt).filter(({ id }) => !model.eos_ids.includes(id))));
    if (trace.generating) text.scrollTop = text.scrollHeight;
    mark();
  }
  function mark() {
    const { run: trace, locked } = state;
    const next = locked.query + 1;
    const chosen = place.hidden || !trace || trace !== state.trace || next < trace.nPrompt ? -1 : next;
    const words = /** @type {HTMLCollectionOf<HTMLElement>} */ (written.children);
    for (const word of words) word.classList.toggle("is-chosen", Number(word.dataset.position) === chosen);
  }
  for (const event of ["run", "steps", "chapter"]) glass.on(event, show);
  glass.on("painted", () => {
    bar.draw();
    mark();
    for (const one of under) one.draw();
  });
  show();
}
