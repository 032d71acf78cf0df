// The list of the tours: what each is about, and how far one has come in it. A modal dialog, as shortcuts.js has one.

import { h } from "../dom.js";

/** @param {object} glass @param {import("./bar.js").Walk[]} tours @returns {{ show: () => void }} */
export function createList(glass, tours) {
  const text = (name, params) => glass.text(`tour.${name}`, params);
  const title = h("h2", { id: "tours-title", "data-text": "tour.tours" });
  const close = h("button.page-close", { "data-text": "tour.close", click: () => dialog.close() });
  const offers = tours.map((tour) => {
    const [name, about, far] = [h("strong"), h("span"), h("span.tour-note")];
    return { tour, name, about, far, item: h("li", null, h("button.tour-offer", { "data-tour": tour.name, click: () => dialog.close() }, name, about, far)) };
  });
  const dialog = h("dialog.page-shortcuts.tour-list", { "aria-labelledby": "tours-title" }, h("header", null, title, close), h("ul", null, ...offers.map(({ item }) => item)));
  dialog.addEventListener("click", ({ target }) => { if (target === dialog) dialog.close(); }); // outside of what it holds

  function draw() {
    if (!dialog.open) return;
    for (const { tour: { section, stops, way, isThere }, name, about, far, item } of offers) {
      item.hidden = isThere !== undefined && !isThere(glass);
      name.textContent = glass.text(`${section}.title`);
      about.textContent = glass.text(`${section}.about`);
      const ticked = way.ticked();
      const begun = ticked > 0 || way.last() > 0;
      far.textContent = [text("count", { count: stops.length }), ...(begun ? [text("far", { ticked })] : []), ...(begun && ticked < stops.length ? [text("resume", { number: way.last() + 1 })] : [])].join(" · ");
    }
  }
  glass.on("painted", draw);
  return {
    show() {
      if (!dialog.isConnected) document.querySelector(".gradio-container")?.append(dialog);
      glass.translate(dialog);
      if (!dialog.open) dialog.showModal();
      draw();
      glass.repaint();
    },
  };
}
