// gradio's components in the bar: their words in the page's language, and values that the page puts into them.

/** @typedef {{ prompt?: string; model?: string; language?: string }} Values by component */

/**
 * @param {Record<string, Record<string, string>>} labels by component and property, the key of its text
 * @param {import("./types.d.ts").Texts} texts
 * @param {() => void} drawPicker has the list of networks say what is on offer, in the page's language
 */
export function createBar(labels, texts, drawPicker) {
  /** @type {Values} */
  let filling = {};
  /** @type {(() => void) | null} */
  let change = null;

  /**
   * Updates for gradio's components, in the order of `labels`: their words, and for some a value.
   *
   * @param {Values} [values]
   */
  function relabel(values = {}) {
    drawPicker();
    return Object.entries(labels).map(([name, names]) => {
      const value = values[/** @type {keyof Values} */ (name)];
      return {
        __type__: "update",
        ...Object.fromEntries(Object.entries(names).map(([property, key]) => [property, texts.text(key)])),
        ...(value !== undefined && { value }),
      };
    });
  }

  return {
    relabel,
    /**
     * Puts values into gradio's components, which change through gradio's own event alone.
     *
     * @param {Values} values
     */
    fill(values) {
      filling = { ...filling, ...values }; // gradio takes them later
      change?.();
    },
    /** For that event. */
    filled() {
      const values = filling;
      filling = {};
      return relabel(values);
    },
    /** @param {() => void} raise raises the event */
    onFill(raise) {
      change = raise;
    },
  };
}
