// The list of the tours: what each is about, and how far one has come in it.

import { createDialog } from "../dialog.js";
import { h } from "../dom.js";

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {import("./bar.js").Walk[]} tours
 * @returns {{ show: () => void }}
 */
export function createList(glass, tours) {
  const text = (name, params) => glass.text(`tour.${name}`, params);
  const offers = tours.map((tour) => {
    const [name, about, far] = [h("strong"), h("span"), h("span.tour-note")];
    return {
      tour,
      name,
      about,
      far,
      item: h(
        "li",
        null,
        h("button.tour-offer", { "data-tour": tour.name, click: () => element.close() }, name, about, far),
      ),
    };
  });
  const { element, show } = createDialog(
    { name: "tours-title", look: ".page-shortcuts.tour-list", title: "tour.tours", close: "tour.close" },
    h("ul", null, ...offers.map(({ item }) => item)),
  );

  function draw() {
    if (!element.open) return;
    for (const {
      tour: { section, stops, way, isThere },
      name,
      about,
      far,
      item,
    } of offers) {
      item.hidden = isThere !== undefined && !isThere(glass);
      name.textContent = glass.text(`${section}.title`);
      about.textContent = glass.text(`${section}.about`);
      const ticked = way.ticked();
      const begun = ticked > 0 || way.last() > 0;
      far.textContent = [
        text("count", { count: stops.length }),
        ...(begun ? [text("far", { ticked })] : []),
        ...(begun && ticked < stops.length ? [text("resume", { number: way.last() + 1 })] : []),
      ].join(" · ");
    }
  }
  glass.on("painted", draw);
  return {
    show() {
      show(glass.translate);
      draw();
      glass.repaint();
    },
  };
}
