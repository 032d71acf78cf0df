// Of an answer that is recalled: where what it takes from the text is gathered, and when that comes to the last token,
// against a second text with another answer. By itself where that is measured within about a second, else once it is
// asked for; in three steps, each of them a question.

import { labelsOf } from "../../characters.js";
import { h } from "../../dom.js";
import { isChanged } from "../../off.js";
import { memo, reactive } from "../../reads.js";
import { isQuick, keysOf, valueOf } from "../../readings/recall.js";
import { shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { percent } from "./circuit-says.js";
import { filled, leadTo, namedInWord, otherText, sentences, word } from "./words.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../readings/rests.js").Rests} Rests
 *
 * @typedef {import("../../decoded.d.ts").Detail<"words">} Words
 *
 * @typedef {import("../../readings/recall.js").Recalled} Recalled
 *
 * @typedef {{ words: Words | null; text: string; map: unknown; found: Recalled | {} | null }} Steps what has come
 */

const STEPS = 3;

/**
 * @param {Say} text
 * @param {"in" | "of"} how
 * @param {{ first: number; last: number }} layers
 */
const layersSaid = (text, how, { first, last }) =>
  text(`recall.${how}_layer${first === last ? "" : "s"}`, { first, last });

/**
 * What the sentences name.
 *
 * @param {Say} text
 * @param {Recalled} found
 * @param {string[]} pieces
 * @param {number} position the last token
 */
function namesOf(text, { answer, other, token, gathered, moved, brought }, pieces, position) {
  return {
    answer: word(answer),
    other: word(other),
    place: namedInWord(text, pieces, token),
    query: word(pieces[position]),
    ffns: layersSaid(text, "of", gathered.layers),
    all: percent(gathered.all),
    next: String(gathered.layers.first + 1),
    later: percent(gathered.later),
    above: percent(gathered.above),
    last: String(gathered.layers.last),
    attention: percent(gathered.attention),
    elsewhere: percent(gathered.elsewhere),
    layers: layersSaid(text, "in", moved.layers),
    from: String(moved.layers.first),
    to: String(moved.layers.last),
    held: percent(moved.held),
    before: percent(moved.before),
    after: percent(moved.after),
    layer: String(brought.layer),
    head: String(brought.head),
    brought: percent(brought.lost),
    following: percent(brought.following),
  };
}

/**
 * @param {Glass} glass
 * @param {() => import("../../chosen-step.js").Moment} moment
 */
export function createRecall(glass, moment) {
  const state = shownIn(glass);
  const element = h("div.wy-recall", { hidden: "", "aria-live": "polite" });
  /**
   * Whether the texts are here; the place for which it was asked for; the second text with which something is
   * wrong.
   *
   * @type {{ here: boolean; asked: string; trouble: string }}
   */
  const view = reactive({ here: false, asked: "", trouble: "" }, glass.repaint);
  glass.need("recall").then(() => {
    view.here = true;
  });
  glass.on("message", (/** @type {import("../../messages.d.ts").Notice | null} */ message) => {
    if (message?.code.startsWith("circuit_")) view.trouble = otherText(glass, moment().at);
  });
  const placeOf = () => `${state.trace.id} ${moment().at}`;
  const press = () => {
    view.asked = placeOf();
  };

  /**
   * The questions, one after the other.
   *
   * @param {number} token
   * @returns {Steps}
   */
  function ask(token) {
    const words = glass.detail("words", { token });
    const fits = words && words.tokens <= words.map_limit;
    const text = (fits && (otherText(glass, token) || words.swaps[0]?.text)) || "";
    const map = text && text !== view.trouble ? glass.detail("causal_map", { token, text }) : null;
    return { words, text, map, found: map ? glass.detail("recalled", { token, text }) : null };
  }

  /** @type {HTMLElement[]} what is said, the glossary's marks in it */
  let said = [];
  const write = memo(
    (/** @type {Recalled} */ found, /** @type {string} */ other, /** @type {number} */ position, _language) => {
      const { text } = glass;
      const names = namesOf(text, found, labelsOf(state.trace.tokens.pieces), position);
      const { gathers, moves, rule } = keysOf(found);
      const led = h("button.wy-lead", { click: () => leadTo(glass, "choice", "causal-map") }, text("recall.map"));
      const first = sentences(text, text(`recall.${gathers}`), text(`recall.${moves}`));
      said = [
        h("p", null, ...filled(first, names)),
        h("p.gp-note", null, ...filled(text("recall.pair"), { ...names, text: h("q", null, other), map: led })),
        h("p.gp-note", null, ...filled(sentences(text, text("recall.ffns"), text("recall.stream")), names)),
        ...(rule ? [h("p.gp-note", null, text(`recall.${rule}`))] : []),
      ];
    },
  );

  /**
   * Why there is nothing to say, or how far it is.
   *
   * @param {Steps} steps
   */
  function noteOf({ words, text, map, found }) {
    if (!words) return glass.text("recall.waiting_words");
    if (words.tokens > words.map_limit) return glass.text("why.too_long", { limit: words.map_limit });
    if (!text || text === view.trouble) return glass.text("recall.none");
    if (found && !("gathered" in found)) return glass.text("recall.at_last", { text });
    return glass.text(map ? "recall.waiting" : "recall.waiting_map");
  }

  /** @param {Steps | null} steps null until it is asked for */
  function body(steps) {
    if (!steps)
      return html`<button class="gp-option" @click=${press} .textContent=${glass.text("recall.ask")}></button>`;
    if (steps.found && "gathered" in steps.found) return html`${said}`;
    const done = [steps.words, steps.map, steps.found].filter(Boolean).length;
    const ended = steps.found || (steps.words && (!steps.text || steps.text === view.trouble));
    return html`
      <p class="gp-note" .textContent=${noteOf(steps)}></p>
      <progress ?hidden=${Boolean(ended)} max=${STEPS} value=${done} aria-label=${glass.text("recall.ask")}></progress>
    `;
  }

  /**
   * @param {Rests | null} rests
   * @param {{ position: number } | null} ready the answer, once it is told
   */
  function draw(rests, ready) {
    const { at } = moment();
    const isTold = rests?.form === "recalled" && !rests.layers && rests.position === at && ready?.position === at;
    element.hidden = !isTold || !view.here || isChanged(state.trace);
    delete element.dataset.value;
    if (element.hidden) return;
    const asking = view.asked === placeOf() || isQuick(state.trace.model, at + 1);
    const steps = asking ? ask(at) : null;
    const found = steps?.found && "gathered" in steps.found ? steps.found : null;
    if (found && steps) {
      write(found, steps.text, at, state.language);
      element.dataset.value = valueOf(found);
    }
    render(body(steps), element);
  }
  return { element, draw };
}
