// Where the names of a chart's dots stand: beside them, clear of all dots, lines and other names.

/** @typedef {{ x: number; y: number }} Place of a dot */
/** @typedef {[left: number, top: number, right: number, bottom: number]} Box */
/** @typedef {[leftmost: number, rightmost: number, lowest: number]} Edges of the room for names */

export const RADIUS = 9; // px: of the largest dot
const LINE = 18; // px: of a line of text

/** @param {Box} a @param {Box} b */
const overlap = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];

/**
 * Points of a line through these places, close enough that no name slips between two.
 *
 * @param {Place[]} line
 * @returns {Box[]}
 */
function along(line) {
  return line.slice(1).flatMap((to, i) => {
    const from = line[i];
    const steps = Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / 4);
    return Array.from({ length: steps }, (_, step) => {
      const [x, y] = [from.x + ((to.x - from.x) * step) / steps, from.y + ((to.y - from.y) * step) / steps];
      return /** @type {Box} */ ([x, y, x, y]);
    });
  });
}

/**
 * A name's box beside its dot: above and below it, then at its right and left; the first that is free of all dots,
 * all lines, all other names and the edges; null where there is none.
 *
 * @param {Place} place
 * @param {number} wide
 * @param {Box[]} taken
 * @param {Edges} edges
 * @returns {Box | null}
 */
function roomFor({ x, y }, wide, taken, [leftmost, rightmost, lowest]) {
  /** @type {[number, number][]} */
  const starts = [
    [x - wide / 2, y - RADIUS - LINE],
    [x + RADIUS, y - RADIUS - LINE / 2],
    [x - wide / 2, y + RADIUS],
    [x - wide - RADIUS, y - RADIUS - LINE / 2],
    [x - RADIUS, y - RADIUS - LINE],
    [x + 2, y - RADIUS - LINE],
    [x - wide + RADIUS, y - RADIUS - LINE],
  ];
  const boxes = starts.map(([left, top]) => /** @type {Box} */ ([left, top, left + wide, top + LINE]));
  const inside = boxes.filter((box) => box[0] >= leftmost && box[1] >= 0 && box[2] <= rightmost && box[3] <= lowest);
  return inside.find((box) => !taken.some((other) => overlap(box, other))) ?? null;
}

/**
 * Names beside their dots, the first ones first, and those that have no room.
 *
 * @template {{ place: Place; wide: number }} Name
 * @param {Name[]} names with their widths
 * @param {Place[][]} lines through the dots
 * @param {Edges} edges
 * @returns {{ beside: (Name & { box: Box })[]; left: Name[] }}
 */
export function namesBeside(names, lines, edges) {
  const taken = names.map(
    ({ place: { x, y } }) => /** @type {Box} */ ([x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS]),
  );
  taken.push(...lines.flatMap(along));
  const beside = [];
  const left = [];
  for (const name of names) {
    const box = roomFor(name.place, name.wide, taken, edges);
    if (box) {
      taken.push(box);
      beside.push({ ...name, box });
    } else left.push(name);
  }
  return { beside, left };
}
