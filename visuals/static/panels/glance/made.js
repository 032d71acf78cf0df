// What made a word that was written: the heads and FFNs that wrote most to its logit, each a way to where it is seen.

import { h, signed } from "../../dom.js";
import { memo } from "../../reads.js";
import { writers } from "../../readings/writers.js";
import { shownIn } from "../../run-for.js";
import { filled, lead, leadToCell, readBy, word } from "./words.js";

const COUNT = 3;

/**
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("../../decoded.d.ts").Detail<"logit_terms">} Terms
 *
 * @typedef {ReturnType<typeof writers>[number]} Maker
 */

/** @param {import("../../types.d.ts").Glass} glass */
export function createMade(glass) {
  const element = h("p.wy-made", { hidden: "" });
  /** @type {Say} */
  const text = (name, params) => glass.text(`why.${name}`, params);

  /**
   * @param {Maker} one
   * @param {number} at
   */
  function way(one, at) {
    const { kind, layer, head, key, value } = one;
    const added = signed(value, 3);
    if (kind === "ffn")
      return lead(glass, text("made_ffn", { layer, value: added }), { layer, query: at }, "ffn", "ffn-token");
    return leadToCell(
      glass,
      text(`made_${kind}`, { layer, head, key: word(readBy(shownIn(glass).trace, kind)[key ?? 0]), value: added }),
      { ...one, kind },
      at,
    );
  }
  /**
   * @param {Terms} found
   * @param {number} at
   * @param {string} piece
   */
  function write(found, at, piece) {
    const some = writers(found)
      .slice(0, COUNT)
      .map((one) => way(one, at));
    const list = h("span", null, ...some.flatMap((one, i) => (i ? [" · ", one] : [one])));
    element.replaceChildren(
      ...filled(text("made"), { piece: h("b", null, word(piece)), logit: signed(found.logit, 4), parts: list }),
    );
  }
  const writeAnew = memo(write);

  /** @param {import("../../chosen-step.js").Moment} moment the line is there for a token that is in the text */
  function draw({ at, token }) {
    const { status, language } = glass.state;
    const found =
      token && status !== "generating"
        ? glass.detail("logit_terms", { token: at, target: token.id, against: null })
        : null;
    element.hidden = !found;
    if (found && token) writeAnew(found, at, token.piece, language);
    return found;
  }
  return { element, draw };
}
