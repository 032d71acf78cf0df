// Runs a text that a panel offers, as if the reader had typed it into the prompt and pressed Run.

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {string} prompt
 * @param {Partial<import("../../selection.js").Selection>} selection what to look at while it runs
 */
export async function runPrompt(glass, prompt, selection) {
  glass.select(selection);
  const box = /** @type {HTMLTextAreaElement} */ (document.querySelector("#prompt textarea"));
  box.value = prompt;
  box.dispatchEvent(new Event("input", { bubbles: true }));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); // gradio reads the box first
  /** @type {HTMLElement} */ (document.querySelector("#run")).click();
}
