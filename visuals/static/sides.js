// Which side of two runs a panel shows: A or B, which it draws itself, or B − A, which difference/face.js draws in its
// place.

import { segmented } from "./controls.js";

/**
 * A panel's drawing function for all three sides, which marks the section with the one that is shown.
 *
 * @param {(fresh: boolean) => (() => void) | void} draw how the panel draws one run; what it returns is passed on
 *   (store.js)
 * @param {import("./frame.js").About} about
 */
export function withSides(kind, element, glass, draw, about) {
  const { state } = glass;
  let face = null;
  const showB = (fresh) => {
    element.dataset.side = "B";
    return draw(fresh);
  };
  const fetchFace = async () => {
    face = { draw: showB, hide() {} }; // while it comes
    element.toggleAttribute("data-fetching", true);
    try {
      const { createFace } = await import("./difference/face.js");
      face = await createFace(kind, element, glass, draw, about);
    } catch (error) {
      face.draw = () => {
        throw error;
      }; // glass.js says in the panel's place that it could not be drawn
    }
    element.toggleAttribute("data-fetching", false);
    glass.repaint(true);
  };
  return (fresh) => {
    if (glass.sides() && about.sides !== "both") element.dataset.side = state.side;
    else delete element.dataset.side;
    if (state.side === "B-A" && !about.sides) {
      if (!face) fetchFace();
      return face.draw(fresh);
    }
    face?.hide();
    return draw(fresh);
  };
}

/**
 * The switch between the sides: a button each, there while two runs are.
 *
 * @returns {{ element: HTMLElement; draw: () => void }}
 */
export function createSwitch(glass) {
  const { element, mark } = segmented(["A", "B", "B-A"], {
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
