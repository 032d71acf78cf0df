// Fetches the glossary once the first run is drawn and the browser has nothing better to do; any button with
// data-glossary opens the list of all terms.

/** @type {(act: () => void) => void} */
const soon = globalThis.requestIdleCallback ?? ((act) => setTimeout(act, 200));

/** @param {import("../types.d.ts").Glass} glass */
export function offerGlossary(glass) {
  /** @type {Promise<{ all: () => void }> | null} */
  let made = null;
  const fetched = () => (made ??= import("./glossary.js").then(({ createGlossary }) => createGlossary(glass)));
  document.addEventListener("click", async ({ target }) => {
    if (/** @type {Element} */ (target).closest?.("button[data-glossary]")) (await fetched()).all();
  });
  const off = glass.on("painted", () => {
    off();
    soon(fetched);
  });
}
