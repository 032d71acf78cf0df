// Where a part of the page is found: beside this module, or in the file that holds the whole page (app/one_file).

/**
 * The address of a module or of styles.
 *
 * @param {string} name where it is beside this module
 */
export const addressOf = (name) => window.glassConfig.files?.[name] ?? new URL(name, import.meta.url).href;
