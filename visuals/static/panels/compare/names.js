// What a position is called where two runs are laid over each other.

import { visible } from "../../draw.js";

/**
 * A token's text; A's and B's where they differ.
 *
 * @param {string} a
 * @param {string} b
 */
export const nameOf = (a, b) => (a === b ? visible(b) : `${visible(a)} → ${visible(b)}`);
