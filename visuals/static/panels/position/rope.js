// How a position comes into a score: each pair of a head as a dial, turned by RoPE, or a bias by distance.

import { cellNames } from "../../draw.js";
import { frame } from "../../frame.js";
import { turningForms } from "../../parts.js";
import { inWidth, widthOf } from "../../pointing.js";
import { dialsReader, turnedReader } from "../../readings/dials.js";
import { biasReader } from "../../readings/distance-bias.js";
import { rotaryOf } from "../../readings/position-kinds.js";
import { channelsOf } from "../../rotation.js";
import { readHere, shownIn } from "../../run-for.js";
import { html, render } from "../../vendor/lit-html.js";
import { createBias } from "./bias.js";
import { createDials } from "./dials.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../readings/dials.js").DialReading} DialReading
 *
 * @typedef {import("../../readings/distance-bias.js").BiasReading} BiasReading
 */

/** What the panel's readers are asked for. @param {Glass} glass */
function select(glass) {
  const { layer, head, query, key, pair } = shownIn(glass);
  return { layer, head, query, key, pair };
}

/** @type {import("../../frame.js").About} */
export const about = {
  tensors: ["q", "k", "q_rot", "k_rot", "k_rope", "position_bias"],
  difference: {
    reader: turnedReader,
    select,
    lacks: (glass, { B }) => (B.model.parts.rotary ? null : glass.text("b_minus_a.same_bias")),
    without: "b_minus_a.without_dials",
    said: ["term", "sum"],
    of({ text, chosen, b }) {
      const [pair, second] = channelsOf(rotaryOf(b.trace.model), chosen.pair);
      return text("of_pair", { pair, second });
    },
    parts: [
      {
        draw: "strips",
        rows: "vectors",
        columns: [
          ["q", "q"],
          ["k", "k"],
          ["q_rot", "q"],
          ["k_rot", "k"],
        ],
        pairs: true,
      },
      {
        draw: "table",
        rows: "pairs",
        column: "term",
        title: "terms",
        heading: "pair",
        name: ({ key: { first, second } }) => `(${first}, ${second})`,
        selects: "pair",
      },
    ],
  },
  unused: "head",
  forms: turningForms,
};

/**
 * @param {HTMLElement} element
 * @param {Glass} glass
 */
export default function rope(element, glass) {
  const state = shownIn(glass);
  const panel = frame(element, glass, "rope", { parts: ["what", "formula", "myth", "layout"] });
  const [dials, bias] = [createDials(glass, panel.text), createBias(glass, panel.text)];

  /**
   * @param {string} lead
   * @param {DialReading | null} turned of a network that turns its heads
   * @param {BiasReading | null} biased of one that adds a bias
   */
  const view = (lead, turned, biased) => html`
    <p class="wy-notice" .textContent=${lead}></p>
    ${dials.view(turned)} ${bias.view(biased)}
  `;
  render(view("", null, null), panel.body);

  /**
   * @param {DialReading | BiasReading} reading
   * @param {string} words
   */
  function tell(reading, words) {
    panel.title.textContent = panel.text("title", { ...cellNames(state), kv: reading.kv });
    panel.show(reading, words);
  }
  /** @param {number} width */
  function drawDials(width) {
    const reading = readHere(glass, dialsReader, select(glass));
    if (!reading) return undefined;
    dials.draw(reading, width);
    return () => {
      render(view(dials.lead(reading), reading, null), panel.body);
      tell(reading, dials.words(reading));
    };
  }
  /** @param {number} width */
  function drawBias(width) {
    const reading = readHere(glass, biasReader, select(glass));
    if (!reading) return undefined;
    bias.draw(reading, width);
    return () => {
      render(view(bias.lead(reading), null, reading), panel.body);
      tell(reading, bias.words(reading));
    };
  }
  return inWidth(element, widthOf(panel.body, glass), (width) =>
    state.trace.model.parts.bias ? drawBias(width) : drawDials(width),
  );
}
