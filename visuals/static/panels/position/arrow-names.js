// Where the names of the arrows of q and k stand in the complex plane: clear of the arrows and of each other.

/**
 * @typedef {[number, number]} Point
 *
 * @typedef {{ x: number; y: number; radius: number }} Plane its middle and its radius in pixels
 *
 * @typedef {{ to: readonly [number, number]; role: string; solid: boolean; name: string }} Arrow `to`: in shares of
 *   the radius; `solid`: whether it is turned
 */

const [BEYOND, BESIDE] = [15, 13]; // px from a tip to the name beyond it, and from an arrow to the name beside it
const [OF_ARROW, OF_NAME] = [10, 18]; // px that a name keeps from other arrows and names
const ALONG = [0.65, 0.5, 0.8, 0.38, 0.92]; // of an arrow's length: where a name may stand beside it

/**
 * How far a point is from the arrow that begins in the middle.
 *
 * @param {Plane} plane
 * @param {Arrow} arrow
 * @param {Point} point
 */
function distanceOf({ x, y, radius }, { to: [a, b] }, [px, py]) {
  const [dx, dy] = [a * radius, -b * radius];
  const share = ((px - x) * dx + (py - y) * dy) / (dx * dx + dy * dy || 1);
  const at = Math.max(0, Math.min(1, share));
  return Math.hypot(px - x - at * dx, py - y - at * dy);
}

/**
 * Where an arrow's name may stand, the first best: of what is turned around the tip, of what is not beside the
 * arrow. Where all four point the same way, q's are on one side and k's on the other.
 *
 * @param {Plane} plane
 * @param {Arrow} arrow
 * @returns {Point[]}
 */
function spotsOf({ x, y, radius }, { to: [a, b], role, solid }) {
  const size = Math.hypot(a, b) || 1;
  const side = role === "q" ? 1 : -1;
  /** @type {(along: number, aside: number) => Point} */
  const spot = (along, aside) => [x + (a * along - b * aside) / size, y - (b * along + a * aside) / size];
  const long = size * radius;
  if (solid) return [8, 0, 14, -8, -14].map((aside) => spot(long + BEYOND, aside * side));
  return [side, -side].flatMap((way) => ALONG.map((share) => spot(share * long, BESIDE * way)));
}

/**
 * The places of the arrows' names: each the first that is clear of the other arrows and of the names before it, or
 * the one that comes nearest to that.
 *
 * @param {Plane} plane
 * @param {Arrow[]} arrows
 * @returns {Point[]}
 */
export function placeNames(plane, arrows) {
  /** @type {Point[]} */
  const placed = [];
  for (const arrow of arrows) {
    const others = arrows.filter((one) => one !== arrow);
    /** @type {(point: Point) => number} */
    const clearOf = (point) =>
      Math.min(
        1,
        ...others.map((one) => distanceOf(plane, one, point) / OF_ARROW),
        ...placed.map((one) => Math.hypot(one[0] - point[0], one[1] - point[1]) / OF_NAME),
      );
    const spots = spotsOf(plane, arrow);
    const clear = spots.map(clearOf);
    placed.push(spots[clear.indexOf(Math.max(...clear))]);
  }
  return placed;
}
