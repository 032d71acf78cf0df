// What panels are set with: buttons of which one is pressed, sliders, steppers, boxes to tick; and rows that stand for
// something.

import { h } from "./dom.js";

/**
 * Buttons of which one is pressed.
 *
 * @template {string | number | boolean} Value
 * @param {readonly Value[]} values
 * @param {{
 *   choose: (value: Value) => void;
 *   label?: string;
 *   text?: (value: Value) => string;
 *   sign?: (value: Value) => string;
 *   title?: (value: Value) => string;
 *   look?: string;
 *   group?: string;
 *   named?: string;
 * }} how
 *   `label`: the key of the group's name; a button says the text that `text` names, or the `sign` itself, with
 *   `title` as its tooltip; `look` and `group`: the classes of a button and of all, which are its plural; `named`:
 *   the data attribute that holds a button's value
 * @returns {{ element: HTMLElement; mark: (chosen: Value) => void }}
 */
export function segmented(
  values,
  { choose, label, text, sign, title, look, group = look ? `div.${look}s` : "div.gp-choices", named = "choice" },
) {
  const buttons = values.map((value) =>
    h(
      `button.${look ?? "gp-option"}`,
      {
        [`data-${named}`]: value,
        "data-text": text?.(value),
        "data-text-title": title?.(value),
        click: () => choose(value),
      },
      sign?.(value) ?? "",
    ),
  );
  /** @param {Value} chosen */
  const mark = (chosen) =>
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(values[i] === chosen)));
  return { element: h(group, { role: "group", "data-text-label": label }, ...buttons), mark };
}

/**
 * As `segmented`, of a panel's own setting, which the link keeps.
 *
 * @template {string} Value
 * @param {import("./types.d.ts").Glass} glass
 * @param {string} panel texts' section and the settings' name
 * @param {string} name of the setting
 * @param {Value[]} values
 * @param {Value} [first] the default
 */
export function choices({ settings, on }, panel, name, values, first = values[0]) {
  const now = () => {
    const given = settings.get(panel)[name];
    return values.find((value) => value === given) ?? first;
  };
  const { element, mark } = segmented(values, {
    label: `${panel}.${name}`,
    text: (value) => `${panel}.${name}_${value}`,
    choose(value) {
      settings.set(panel, { ...settings.get(panel), [name]: value === first ? "" : value });
      show();
    },
  });
  const show = () => mark(now());
  show();
  on?.("restored", show);
  return { element, now, show };
}

/**
 * A range under its name, with its value in words.
 *
 * @param {string} look the label's class
 * @param {string} text the key of its name
 * @param {{ min: number; max?: number; step: number }} range `max` may come when it is shown
 * @param {(value: number) => void} act called while it is moved
 * @param {boolean} bare without the name, which the value says
 * @returns {{
 *   element: HTMLElement;
 *   show: (value: number, words: string, now?: { max?: number; fixed?: boolean }) => void;
 * }}
 */
export function slider(look, text, range, act, bare = false) {
  const input = h("input", { type: "range", ...range, "data-text-label": text, input: () => act(Number(input.value)) });
  const output = h("output");
  /**
   * @param {number} value
   * @param {string} words
   * @param {{ max?: number; fixed?: boolean }} [now]
   */
  function show(value, words, { max, fixed = false } = {}) {
    if (max !== undefined) input.max = String(max);
    if (Number(input.value) !== value) input.value = String(value);
    input.disabled = fixed;
    output.textContent = words;
  }
  return {
    element: h(
      `label.${look}`,
      { "data-setting": text.split(".").at(-1) },
      ...(bare ? [] : [h("span", { "data-text": text })]),
      output,
      input,
    ),
    show,
  };
}

/**
 * A small "‹ 2 ›".
 *
 * @param {(by: number) => void} move
 * @param {{ label: string; back: string; on: string; name?: boolean }} texts keys of the group's name, which is
 *   written before it where `name`, and of the buttons'
 * @returns {{ element: HTMLElement; show: (words: string, first: boolean, last: boolean) => void }} `first`,
 *   `last`: no way on from there
 */
export function stepper(move, { label, back, on, name = true }) {
  const value = h("output.gp-step-value");
  /** @type {(key: string, sign: string, by: number) => HTMLButtonElement} */
  const button = (key, sign, by) => h("button.gp-step", { "data-text-label": key, click: () => move(by) }, sign);
  const [less, more] = [button(back, "‹", -1), button(on, "›", 1)];
  const words = name ? [h("span", { "data-text": label })] : [];
  const element = h("span.gp-stepper", { role: "group", "data-text-label": label }, ...words, less, value, more);
  /** @type {(words: string, first: boolean, last: boolean) => void} */
  function show(now, first, last) {
    value.textContent = now;
    [less.disabled, more.disabled] = [first, last];
  }
  return { element, show };
}

/**
 * A box to tick.
 *
 * @param {string} text the key of its name
 * @param {(ticked: boolean) => void} act
 */
export function checkbox(text, act) {
  const box = h("input", { type: "checkbox", change: () => act(box.checked) });
  return { element: h("label.gp-check", null, box, h("span", { "data-text": text })), box };
}

const DONE = 4000; // ms for which a button says that it is done

/**
 * A button that copies a text.
 *
 * @param {string} look its class
 * @param {(key: string) => string} say
 * @param {[string, string]} texts keys: what it offers, and that it is done
 * @param {() => string} find
 */
export function copyButton(look, say, [offer, done], find) {
  async function copy() {
    await navigator.clipboard.writeText(find());
    button.textContent = say(done);
    setTimeout(() => {
      button.textContent = say(offer);
    }, DONE);
  }
  const button = h(`button.${look}`, { "data-text": offer, click: copy });
  button.hidden = !navigator.clipboard;
  return button;
}

/**
 * Rows that stand for something: the pointer previews it, a click or Enter selects it.
 *
 * @template Found
 * @param {HTMLElement} holder
 * @param {{
 *   preview?: (found: Found) => void;
 *   endPreview?: () => void;
 *   select?: (found: Found) => void;
 *   focus?: (found: Found) => void;
 * }} acts
 *   as the store has them for what is part of the selection; `focus`: the keys' way to look
 * @param {(row: HTMLElement) => Found | undefined} find what a row stands for; undefined for nothing
 * @param {string} rows which elements are rows
 */
export function linkRows(holder, { preview, endPreview, select, focus }, find, rows = "tbody tr") {
  /**
   * @template {"pointermove" | "focusin" | "click" | "keydown"} Type
   * @param {Type} type
   * @param {((found: Found) => void) | undefined} act
   * @param {(event: HTMLElementEventMap[Type]) => boolean} fits
   */
  const listen = (type, act, fits = () => true) =>
    act &&
    holder.addEventListener(type, (event) => {
      const row = fits(event) ? /** @type {Element} */ (event.target).closest?.(rows) : null;
      const found = row ? find(/** @type {HTMLElement} */ (row)) : undefined;
      if (found !== undefined) act(found);
    });
  // not pointerover, which a row that slides under a resting pointer raises, too: nobody points at that
  listen("pointermove", preview, ({ pointerType }) => pointerType !== "touch");
  listen("focusin", focus);
  listen("click", select);
  listen("keydown", select, (event) => {
    const { key, target } = event;
    return key === "Enter" && /** @type {Element} */ (target).localName !== "button"; // which clicks
  });
  if (endPreview) holder.addEventListener("pointerleave", () => endPreview());
}
