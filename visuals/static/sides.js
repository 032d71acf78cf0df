// Which side of two runs a panel shows: A or B, which it draws itself, or B − A, which difference/face.js draws in its
// place.

import { segmented } from "./controls.js";

/**
 * @typedef {import("./painting.js").Painter} Painter
 *
 * @typedef {import("./types.d.ts").Glass} Glass
 *
 * @typedef {{ draw: Painter; hide: () => void }} Face what stands in a panel's place
 */

/**
 * A panel's drawing function for all three sides, which marks the section with the one that is shown.
 *
 * @param {string} kind
 * @param {HTMLElement} element the panel's section
 * @param {Glass} glass
 * @param {Painter} draw how the panel draws one run
 * @param {import("./frame.js").About} about
 * @returns {Painter}
 */
export function withSides(kind, element, glass, draw, about) {
  const { state } = glass;
  // a calculator is of no run: it stands there as it is, whatever side is chosen
  const isOfRun = about.sides !== "both" && (about.namesChanges !== false || about.ofModel === true);
  /** @type {Face | null} */
  let face = null;
  /** @type {Painter} */
  const showB = (fresh) => {
    element.dataset.side = "B";
    return draw(fresh);
  };
  /** @param {Face} coming what stands there meanwhile */
  const fetchFace = async (coming) => {
    element.toggleAttribute("data-fetching", true);
    try {
      const [{ createFace }] = await Promise.all([import("./difference/face.js"), glass.need("b_minus_a")]);
      face = await createFace(kind, element, glass, draw, about);
    } catch (error) {
      coming.draw = () => {
        throw error;
      }; // glass.js says in the panel's place that it could not be drawn
    }
    element.toggleAttribute("data-fetching", false);
    glass.repaint(true);
  };
  return (fresh) => {
    if (glass.sides() && isOfRun) element.dataset.side = state.side;
    else delete element.dataset.side;
    if (state.side === "B-A" && isOfRun && !about.sides) {
      if (!face) {
        face = { draw: showB, hide() {} }; // while it comes
        fetchFace(face);
      }
      return face.draw(fresh);
    }
    face?.hide();
    return draw(fresh);
  };
}

/**
 * The switch between the sides: a button each, there while two runs are.
 *
 * @param {Glass} glass
 * @returns {{ element: HTMLElement; draw: () => void }}
 */
export function createSwitch(glass) {
  const { element, mark } = segmented(/** @type {const} */ (["A", "B", "B-A"]), {
    label: "sides.choose",
    title: (side) => `sides.${side}`,
    sign: (side) => side.replace("-", " − "),
    group: "span.gp-choices.gp-sides",
    named: "side",
    choose: (side) => glass.showSide(side),
  });
  const difference = /** @type {HTMLElement} */ (element.querySelector('[data-side="B-A"]'));
  function draw() {
    element.hidden = !glass.sides();
    difference.hidden = !glass.subtractable();
    mark(glass.state.side);
  }
  return { element, draw };
}
