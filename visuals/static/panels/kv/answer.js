// A calculator's answer: the total, what it means per token and per GPU, and every product that it is the sum of.

import { h } from "../../dom.js";
import { both, exactBytes, remarkIn, scaled, titled, whole } from "./format.js";
import { oneLine } from "../../one-line.js";

/**
 * @typedef {import("../../types.d.ts").Glass} Glass
 *
 * @typedef {import("../../types.d.ts").Say} Say
 *
 * @typedef {import("./question.js").Answer} Answer
 *
 * @typedef {NonNullable<Answer["growth"]>["phases"][number]["terms"]} Products
 */

/**
 * What is remarked on an answer, such as a context beyond the model's own, copies on ranks, what was assumed: each
 * note in the reader's language; a code that the page does not know is said in English.
 *
 * @param {Glass} glass
 * @param {import("../../messages.d.ts").NoteMessage[]} notes
 * @returns {HTMLElement[]}
 */
export function notesOf(glass, notes) {
  return notes.map(({ code, text: english, params }) => {
    const shown = Object.fromEntries(
      Object.entries(params).map(([name, value]) => [
        name,
        typeof value === "number" ? Number(value.toPrecision(6)).toLocaleString("en-US") : value,
      ]),
    );
    const said = glass.text(`kv.note_${code}`, shown);
    return h("p.gp-note", null, said === `kv.note_${code}` || glass.state.language === "en" ? english : said);
  });
}

/**
 * One figure for every token.
 *
 * @param {Say} text of the section "kv"
 * @param {string} bytes
 */
function perToken(text, bytes) {
  const also = Number(bytes) < 1024 ? "" : ` = ${scaled(bytes, "binary")}`;
  return h("p.gp-note", null, text("per_token", { bytes: exactBytes(bytes), scaled: also }));
}

/**
 * What is remarked on the model; what a reader opened stays open while the numbers change.
 *
 * @param {Glass} glass
 * @param {Say} text of the section "kv"
 * @param {HTMLElement} element
 */
function createSource(glass, text, element) {
  let opened = false;
  element.addEventListener(
    "toggle",
    (event) => {
      const details = /** @type {HTMLDetailsElement} */ (event.target);
      if (details.matches(".kv-source")) opened = details.open;
    },
    true,
  );

  /** @param {Answer["card"]} card */
  function of({ source: read, not_verified: unsure, notes, parameters, published }) {
    /** @typedef {import("../../messages.d.ts").Remark} Remark */
    const remark = (/** @type {Remark} */ one) => remarkIn(one, glass.state.language);
    const list = (/** @type {Remark[]} */ remarks) =>
      h("ul", null, ...remarks.map((one) => h("li", null, remark(one))));
    const fields = unsure.map(remark).join(text("list_comma"));
    const stated = published
      ? text(published.exact ? "published" : "published_rounded", { total: whole(published.total) })
      : "";
    return h(
      "details.kv-source",
      opened ? { open: "" } : null,
      h("summary", null, text("source")),
      list(read),
      h("p.gp-note.kv-parameters", null, oneLine([text("parameters", { count: whole(parameters) }), stated])),
      ...(unsure.length ? [h("p.gp-note", null, text("not_verified", { fields }))] : []),
      ...(notes.length ? [h("h4", null, text("notes")), list(notes)] : []),
    );
  }
  return { of };
}

/** @param {Glass} glass */
export function answerView(glass) {
  /** @type {Say} */
  const text = (name, params) => glass.text(`kv.${name}`, params);
  const element = h("div.kv-answer");
  const source = createSource(glass, text, element);
  /** @type {import("./format.js").Named} */
  const factor = (code, params) => text(`factor_${code}`, params);

  /** @param {Answer["terms"][number]} term */
  function term({ label, factors, bytes }) {
    const parts = label.replace("draft.", "").split(".");
    const what = parts.pop();
    const own = `${text(`place_${parts.join("_")}`)} · ${text(`part_${what}`)}`;
    return titled(label.startsWith("draft.") ? text("draft", { part: own }) : own, factors, factor, bytes);
  }

  /**
   * What a token adds, as one sum of products under the names of their factors.
   *
   * @param {string} said until when
   * @param {Products} products
   */
  function rate(said, products) {
    const names = new Set(
      products.map(({ factors }) => factors.map(({ code, params }) => factor(code, params)).join(" × ")),
    );
    const sum = products.map(({ factors }) => factors.map(({ value }) => whole(value)).join(" × ")).join(" + ");
    const added = products.reduce((all, one) => all + BigInt(one.bytes), 0n);
    return h(
      "div.kv-rate",
      null,
      h(
        "p",
        null,
        said,
        " ",
        h("strong", null, exactBytes(added)),
        added >= 1024n ? ` =\u00a0${scaled(added, "binary").replace(" ", "\u00a0")}` : "",
      ),
      h("p.gp-note", null, `${sum} = ${exactBytes(added)}`),
      h("p.gp-note", null, [...names].join(" + ")),
    );
  }

  /**
   * Bytes a token: one figure, or more where a window drops older tokens once it is full.
   *
   * @param {Answer} answer
   */
  function rates({ per_token, growth }) {
    if (!growth) return [perToken(text, per_token)];
    const said = (/** @type {number | null} */ until, /** @type {number} */ i) =>
      until === null
        ? text(`after_${growth.kind}`)
        : text(i ? "between" : `until_${growth.kind}`, { tokens: whole(until) });
    return growth.phases.map(({ until, terms }, i) => rate(said(until, i), terms));
  }

  /** @param {Answer} answer */
  function show(answer) {
    const { bytes, per_gpu, gpus, terms, notes, card } = answer;
    element.replaceChildren(
      h(
        "p.kv-total",
        null,
        h("strong", null, scaled(bytes, "binary")),
        h("span", null, ` = ${scaled(bytes, "decimal")}`),
      ),
      h("p.kv-exact", null, exactBytes(bytes)),
      ...rates(answer),
      ...(gpus > 1
        ? [h("p.gp-note", null, text("per_gpu", { gpus, bytes: exactBytes(per_gpu), both: both(per_gpu) }))]
        : []),
      h("div.kv-terms", null, ...terms.map(term)),
      ...(terms.length > 1
        ? [
            h(
              "p.kv-sum",
              null,
              terms.map((t) => exactBytes(t.bytes)).join(" + "),
              " = ",
              h("strong", null, exactBytes(bytes)),
            ),
          ]
        : []),
      ...notesOf(glass, notes),
      source.of(card),
    );
  }

  return { element, show };
}
