// "Show the code": the lines of the repository that made the numbers of a panel, as they are written.

import { html, render } from "./vendor/lit-html.js";

/** @typedef {import("./messages.d.ts").CodeExcerpt} CodeExcerpt */

/**
 * One line, with the tensors that it makes.
 *
 * @param {[string, string][]} pieces
 * @param {number} number
 * @param {string[]} tensors
 */
const lineOf = (pieces, number, tensors) =>
  html`<span class="gp-code-line ${tensors.length ? "is-made" : ""}"
    ><span class="gp-code-at" aria-hidden="true" .textContent=${String(number)}></span
    ><span>${pieces.map(([kind, text]) => html`<span class="is-${kind[0] ?? "w"}" .textContent=${text}></span>`)}</span
    ><span class="gp-makes" .textContent=${tensors.length ? `→ ${tensors.join(", ")}` : ""}></span
  ></span>`;

/** @param {CodeExcerpt} excerpt */
const excerptOf = ({ name, file, first, lines, makes }) =>
  html`<h3 class="gp-subtitle"><code .textContent=${name}></code></h3>
    <p class="gp-note" .textContent=${`${file}:${first}`}></p>
    <pre tabindex="0" aria-label=${name}><code>${lines.map((pieces, i) => {
      const tensors = makes.filter(({ line }) => line === first + i).map(({ tensor }) => tensor);
      return lineOf(pieces, first + i, tensors);
    })}</code></pre>`;

/**
 * Fills a box with the code behind a panel, of the layer that is shown; to be called again when that may have
 * changed.
 *
 * @param {HTMLElement} box
 * @param {import("./types.d.ts").Glass} glass
 * @param {string} kind
 * @param {string[]} tensors
 */
export function createCode(box, glass, kind, tensors) {
  /** @type {unknown} */
  let shown = null;
  let language = "";
  return () => {
    const { trace, layer } = glass.state;
    const code = trace && glass.detail("code", { layer, panel: kind, tensors });
    if (code && shown === code && language === glass.state.language) return;
    [shown, language] = [code, glass.state.language];
    const said = code ? (code.excerpts.length ? "says" : "none") : "waits";
    render(
      html`<p .textContent=${glass.text(`code.${said}`)}></p>
        ${(code?.excerpts ?? []).map(excerptOf)}`,
      box,
    );
  };
}
