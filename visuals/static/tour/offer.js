// What leads to the tours: the header's button, which lists them, any button with data-tour (a tour's name, or a
// stop's), and a link to a stop. The tours themselves are fetched when they are first wanted.

/** @param {import("../types.d.ts").Glass} glass */
export function offerTour(glass) {
  let [guide, list] = [null, null];
  async function lead(name) {
    const { createGuide } = await import("./guide.js");
    guide ??= createGuide(glass);
    if (name) return guide.go(name);
    const { createList } = await import("./list.js");
    list ??= createList(glass, guide.tours);
    return list.show();
  }
  document.addEventListener("click", ({ target }) => {
    /** @type {HTMLElement | null} */
    const button = /** @type {Element} */ (target).closest?.("button[data-tour]");
    if (button) lead(button.dataset.tour);
  });
  const { stop } = glass.settings.get("tour");
  if (!stop) return;
  const off = glass.on("run", () => {
    off();
    lead(stop);
  });
}
