// The channels of a head that RoPE does not turn, with what they add to q·k.

import { h, signed } from "../../dom.js";
import { createStrips } from "../../marks/strips.js";
import { html } from "../../vendor/lit-html.js";
import { BESIDE, productStrips } from "../attend/carried.js";

/** @typedef {import("../../readings/dials.js").DialReading} DialReading */

/**
 * The values of the channels that are not turned: q, k and their products.
 *
 * @param {import("../../types.d.ts").Say} text of the panel
 */
export function createUnturned(text) {
  const canvas = h("canvas.gp-canvas", { "data-text-label": "rope.unrotated_strips" });
  const strips = createStrips(canvas, BESIDE);

  /** Which they are, and what they add. @param {DialReading} reading */
  function titleOf({ unturned, qTurned, rest }) {
    const channels = unturned?.channels ?? [];
    const ends = { first: channels[0], last: channels[channels.length - 1] };
    return text("unrotated_title", { ...ends, width: qTurned.length, term: signed(rest, 5) });
  }
  return {
    /**
     * @param {DialReading} reading
     * @param {number} width
     */
    draw({ unturned }, width) {
      if (unturned) strips.draw(width, productStrips(unturned.q, unturned.k, unturned.products), { chosen: null });
    },
    /** @param {DialReading | null} reading null where another is shown */
    view: (reading) => html`
      <div ?hidden=${!reading?.unturned}>
        <h3 class="gp-subtitle" .textContent=${reading?.unturned ? titleOf(reading) : ""}></h3>
        ${canvas}
      </div>
    `,
  };
}
