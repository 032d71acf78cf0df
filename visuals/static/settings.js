// What panels let a reader set, by panel and name, so that a link restores it. Values are texts, as in the address.

import { same, reactive } from "./reads.js";

/**
 * @typedef {import("./types.d.ts").AnyObject} AnyObject
 *
 * @typedef {Record<string, Record<string, string>>} Given settings by panel and name
 */

/**
 * @param {{ state: { settings?: Given }; emit: (event: string, name?: string) => void }} store
 * @param {Object<string, Object<string, string>>} linked what the address held when the page opened
 * @returns get(name): the settings of one panel, or of several that share a name; set(name, values): replaces them;
 *   restore(linked)
 */
export function createSettings(store, linked = {}) {
  const all = reactive({ ...linked });
  store.state.settings = all;

  /**
   * @param {string} name
   * @returns {Record<string, string>}
   */
  function get(name) {
    const found = all[name]; // read in any case, so that a drawing follows what is not set yet
    return Object.hasOwn(all, name) ? found : {};
  }

  /**
   * Empty values are left out, so that a link holds only what was changed.
   *
   * @param {string} name
   * @param {Record<string, unknown>} values
   */
  function set(name, values) {
    const kept = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined);
    all[name] = Object.fromEntries(kept.map(([key, value]) => [key, String(value)]));
    store.emit("settings", name);
  }

  /**
   * All settings of a link in the place of those there are.
   *
   * @param {Object<string, Object<string, string>>} linked
   */
  function restore(linked) {
    const names = new Set([...Object.keys(all), ...Object.keys(linked)]);
    for (const name of names) set(name, Object.hasOwn(linked, name) ? linked[name] : {});
    store.emit("restored");
  }
  return { get, set, restore };
}

/**
 * The given settings that have one of these names: a link may hold any.
 *
 * @param {Object<string, string>} given
 * @param {Iterable<string>} names
 */
export const only = (given, names) =>
  Object.fromEntries([...names].filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]));

/**
 * A panel's state, and in it its `settings`: those of the link, else the first ones.
 *
 * @template {AnyObject} Fields
 * @param {Pick<import("./types.d.ts").Glass, "settings" | "repaint" | "on">} glass
 * @param {string} name under which the link keeps what differs from the first
 * @param {Record<string, string>} first
 * @param {Fields} fields the others
 * @param {{
 *   names?: Iterable<string>;
 *   emptied?: string;
 *   kept?: (settings: Record<string, string>) => Record<string, string>;
 * }} how
 *   `names`: of all settings; `emptied`: what a link says of one that was emptied, since nothing at all means the
 *   first; `kept`: those of them that the link holds
 * @returns {{
 *   state: Fields & { settings: Record<string, string> };
 *   set: (change: Record<string, string>) => void;
 * }}
 */
export function linkedState(
  glass,
  name,
  first,
  fields,
  { names = Object.keys(first), emptied = "", kept = (all) => all } = {},
) {
  const linked = () => ({ ...first, ...only(glass.settings.get(name), names) });
  const state = reactive({ ...fields, settings: linked() }, glass.repaint);
  glass.on?.("restored", () => {
    state.settings = same(state.settings, linked());
  });
  /** @param {Record<string, string>} change */
  function set(change) {
    state.settings = { ...state.settings, ...change };
    const changed = Object.entries(kept(state.settings)).filter(([one, value]) => value !== (first[one] ?? ""));
    glass.settings.set(name, Object.fromEntries(changed.map(([one, value]) => [one, value || emptied])));
  }
  return { state, set };
}

/**
 * The channel that a panel's settings hold, where there is one and a vector of this width has it; else null.
 *
 * @param {{ channel?: string }} given
 * @param {number} width
 */
export const keptChannel = ({ channel }, width) =>
  /^\d{1,6}$/.test(channel ?? "") && Number(channel) < width ? Number(channel) : null;
