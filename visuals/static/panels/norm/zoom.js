// A window over a vector's channels: how much of it a strip shows, moving it, and the buttons that do.

import { h } from "../../dom.js";
import { NUMBER } from "../../marks/strips.js";

/** Channels that a width can show with their numbers. @param {number} width */
export const fewest = (width) => Math.max(3, Math.floor(width / NUMBER));

/** @typedef {{ start: number; count: number }} Zoom */

/**
 * The window moved and cut so that it lies inside the vector.
 *
 * @param {Zoom} zoom
 * @param {number} size
 * @returns {Zoom}
 */
export function within({ start, count }, size) {
  const kept = Math.min(size, Math.max(1, count));
  return { start: Math.max(0, Math.min(size - kept, Math.round(start))), count: kept };
}

/**
 * Half or twice as many channels, around one of them that stays where it is.
 *
 * @param {Zoom} zoom
 * @param {number} size
 * @param {number} least
 * @param {number} centre
 * @param {boolean} closer
 * @returns {Zoom}
 */
export function zoomed({ start, count }, size, least, centre, closer) {
  const next = closer ? Math.max(Math.min(least, size), Math.floor(count / 2)) : Math.min(size, count * 2);
  const share = (centre + 0.5 - start) / count;
  return within({ start: centre + 0.5 - share * next, count: next }, size);
}

/**
 * The window moved just so far that it shows a channel.
 *
 * @param {Zoom} zoom
 * @param {number} channel
 * @param {number} size
 * @returns {Zoom}
 */
export function showing({ start, count }, channel, size) {
  if (channel >= start && channel < start + count) return { start, count };
  return within({ start: channel < start ? channel : channel - count + 1, count }, size);
}

/** @param {(name: "closer" | "wider" | "all") => void} change */
export function zoomButtons(change) {
  /** @type {(name: "closer" | "wider" | "all", sign: string) => HTMLElement} */
  const make = (name, sign) =>
    h(
      "button.gp-tab",
      { "data-text-title": `norm-vector.${name}`, "data-text-label": `norm-vector.${name}`, click: () => change(name) },
      sign,
    );
  return h("div.gp-tabs", null, make("closer", "+"), make("wider", "−"), make("all", "1 : 1"));
}
