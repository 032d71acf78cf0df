// A finger that scrolls the page and happens to begin on a slider leaves it as it was. A browser sets a slider where it
// is touched, before it can know that the finger will scroll.

const SLIDER = "input[type=range]";

/** @param {EventTarget} page */
export function keepSliders(page) {
  /** @type {{ slider: HTMLInputElement; value: string } | null} */
  let touched = null;
  page.addEventListener(
    "pointerdown",
    (event) => {
      const { target: slider, pointerType } = /** @type {PointerEvent} */ (event);
      const slides = pointerType === "touch" && slider instanceof HTMLInputElement && slider.matches(SLIDER);
      touched = slides ? { slider, value: slider.value } : null;
    },
    { capture: true },
  );
  // the finger's way is the page's from here on: it scrolls
  page.addEventListener("pointercancel", () => {
    if (touched && touched.slider.value !== touched.value) {
      touched.slider.value = touched.value;
      touched.slider.dispatchEvent(new Event("input", { bubbles: true }));
    }
    touched = null;
  });
}
