// Experts with their slots: a row each, the tokens that come in their order, a line where the slots end, and behind it
// those that are dropped.

import { labelsOf } from "../../characters.js";
import { cross, fit, hatch, ink, inside, visible, write } from "../../draw.js";

const [LEFT, HIGH, GAP, TOP] = [84, 30, 5, 26];
const [LEAST, MOST] = [16, 64]; // pixels of a token

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {import("../../readings/routing-kinds.js").RoutingReading} reading
 * @param {string[]} pieces of the tokens
 * @param {(name: string, params?: Record<string, unknown>) => string} text
 * @returns {(x: number, y: number) => number | null} the token at a point
 */
export function drawSlots(canvas, width, { guests, slots, selection: { query } }, pieces, text) {
  const longest = Math.max(slots, ...guests.map((row) => row.length));
  const each = Math.min(MOST, Math.max(LEAST, Math.floor((width - LEFT) / longest)));
  const shown = Math.floor((width - LEFT) / each);
  const context = fit(canvas, width, TOP + guests.length * (HIGH + GAP));
  const { colour } = ink();
  const yOf = (/** @type {number} */ expert) => TOP + expert * (HIGH + GAP);
  guests.forEach((row, expert) => {
    const y = yOf(expert);
    write(context, text("expert", { expert }), 0, y + HIGH / 2, { base: "middle", most: LEFT - 8 });
    context.strokeStyle = colour("grid");
    context.strokeRect(LEFT + 0.5, y + 0.5, Math.min(slots, shown) * each - 1, HIGH - 1);
    row.slice(0, shown).forEach(({ token, choice, kept }, i) => {
      const x = LEFT + i * each;
      context.globalAlpha = choice ? 0.82 : 1;
      context.fillStyle = colour(kept ? "gate" : "masked");
      context.fillRect(x + 1, y + 1, each - 2, HIGH - 2);
      context.globalAlpha = 1;
      if (!kept) hatch(context, x + 1, y + 1, each - 2, HIGH - 2);
      const ground = kept ? "card" : "text";
      inside(context, x, y, each, HIGH, () =>
        write(
          context,
          each < 34 ? String(token) : visible(labelsOf(pieces)[token]).replace("·", ""),
          x + each / 2,
          y + HIGH / 2,
          {
            base: "middle",
            align: "center",
            colour: colour(ground),
            size: each < 34 ? 12 : 13,
          },
        ),
      );
      if (token === query) cross(context, x + 1, y + 1, each - 2, HIGH - 2);
    });
    if (row.length > shown)
      write(context, "…", width - 2, y + HIGH / 2, { base: "middle", align: "right", weight: 700 });
  });
  if (slots <= shown) {
    const x = LEFT + slots * each;
    context.fillStyle = colour("output");
    context.fillRect(x - 1, TOP - 6, 3, guests.length * (HIGH + GAP) + 2);
    const right = x > width / 2;
    write(context, text("slots_line", { slots }), right ? x - 6 : x + 6, 14, {
      align: right ? "right" : "left",
      weight: 600,
      colour: colour("output"),
    });
  }
  return (x, y) => {
    const [i, expert] = [Math.floor((x - LEFT) / each), Math.floor((y - TOP) / (HIGH + GAP))];
    return x < LEFT ? null : (guests[expert]?.[i]?.token ?? null);
  };
}
