// What other kinds of attention would keep of one token: a set for each head, for a group, for all; or a latent.

import { h } from "../../../dom.js";
import { memo } from "../../../reads.js";
import { createBars } from "../../bars.js";
import { bytesTold, inBytes } from "../../held.js";
import { bold } from "../../words.js";

/** @typedef {import("../../../decoded.d.ts").Detail<"kv_live">["kinds"][number]} Kind */

/**
 * @param {import("../../scene.js").Glass} glass
 * @returns {import("../../scene.js").Scene}
 */
export function createShares(glass) {
  const { state, text } = glass;
  const bars = createBars();
  const note = h("p.st-note");
  const element = h("div", null, bars.element, note);
  const paint = memo((/** @type {Kind[]} */ kinds, _language) => {
    const rows = kinds.flatMap(({ kind, own, bytes }) => {
      const words = text(`story-cache.shares_${kind}`);
      return bytes ? [{ name: words, value: Number(bytes), words: inBytes(Number(bytes)), strong: own }] : [];
    });
    bars.draw(rows);
    note.textContent = kinds.some(({ assumed }) => assumed) ? text("story-cache.shares_assumed") : "";
  });
  return {
    name: "shares",
    behind: ["kv", "kv-kinds"],
    element,
    has: ({ parts: { stack } }) => !stack,
    draw() {
      const { trace, language } = state;
      const live = trace && !trace.generating && glass.detail("kv_live", {});
      if (!trace || !live) return null;
      paint(live.kinds, language);
      const bytes = (/** @type {Kind["kind"]} */ kind) => Number(live.kinds.find((one) => one.kind === kind)?.bytes);
      const own = live.kinds.find((one) => one.own)?.kind ?? "none";
      const said = live.kinds.map(({ kind, bytes: of }) => `${kind}=${of ?? "-"}`).join(" ");
      return {
        form: own === "MLA" ? "_latent" : "",
        words: {
          own: bold(own),
          heads: String(trace.model.n_heads),
          kv: bold(String(trace.model.n_kv_heads)),
          mine: bytesTold(bytes(own)),
          mha: bytesTold(bytes("MHA")),
        },
        value: `own ${own} ${said}`,
      };
    },
  };
}
