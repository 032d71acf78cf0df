// What leads to the tour: any button with data-tour (a stop's name, or "" for where one left), and a link to a stop. The
// tour itself is fetched when it is first wanted.

/** @param {object} glass */
export function offerTour(glass) {
  let guide = null;
  async function lead(name) {
    if (!guide) {
      const { createGuide } = await import("./guide.js");
      guide ??= createGuide(glass);
    }
    if (name) guide.go(name);
    else guide.resume();
  }
  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.("button[data-tour]");
    if (button) lead(button.dataset.tour);
  });
  /** The header's button says whether there is a way to go on with. */
  function name() {
    const button = document.querySelector("#tour");
    const { last } = glass.settings.get("tour");
    if (!button) return;
    button.dataset.text = last ? "tour.resume" : "tour.open";
    button.textContent = glass.text(button.dataset.text);
  }
  for (const event of ["settings", "run"]) glass.on(event, name);
  const { stop } = glass.settings.get("tour");
  if (!stop) return;
  const off = glass.on("run", () => { off(); lead(stop); });
}
