// Weights from a model's own files: their headers are read here, what tensors they hold is compared on the server.

import { h } from "../../dom.js";
import { html, nothing, render } from "../../vendor/lit-html.js";
import { both, exactBytes, origin, scaled, whole } from "./format.js";
import { HeaderError } from "./header-error.js";
import { heldBy, readFiles, readText } from "./weight-files.js";

/**
 * @typedef {import("../../messages.d.ts").KvWeightsAnswer} Answer
 *
 * @typedef {import("./weight-files.js").Held} Held
 *
 * @typedef {(name: string, params?: Record<string, unknown>) => string} Text
 *
 * @typedef {object} Shown
 * @property {Answer | null} answer
 * @property {Held | null} held
 * @property {string} trouble
 */

/**
 * A signed number of bytes.
 *
 * @param {string} bytes
 */
const signed = (bytes) => {
  const [sign, size] = [bytes.startsWith("-") ? "−" : "+", bytes.replace("-", "")];
  return `${sign}${scaled(size, "binary")} (${sign}${exactBytes(size)})`;
};

/**
 * One product in a line: every factor with its name.
 *
 * @param {Answer["dtypes"][number]["products"][number]} product
 * @param {Text} factor
 */
function productLine({ label, factors, bytes }, factor) {
  const parts = factors.map(({ value, code, params, how }) => {
    const came = origin(how, factor);
    return `${whole(value)} ${factor(code, params)}${came ? ` (${came})` : ""}`;
  });
  return html`<li>
    <code .textContent=${label}></code> <span .textContent=${`${parts.join(" × ")} = ${exactBytes(bytes)}`}></span>
  </li>`;
}

/**
 * What the files hold, and why that is not what is counted.
 *
 * @param {Answer} answer
 * @param {Text} text of the panel
 * @param {Text} factor
 * @param {Held["logged"]} logged of a log, where it is of one
 */
function answerView(
  { bytes, tensors, counted, weights_in: format, output, dtypes, differences },
  text,
  factor,
  logged,
) {
  const sum = `${dtypes.map((one) => exactBytes(one.bytes)).join(" + ")} = ${exactBytes(bytes)}`;
  const stated = logged?.engine ? "files_compared" : logged ? "files_stated" : "files_index";
  const said = { bytes: both(bytes), tensors: whole(tensors), size: logged?.size, engine: logged?.engine };
  const heading = text(tensors ? "files_hold" : stated, said);
  const types = logged?.types.length ? text("files_types", { types: logged.types.join(", ") }) : "";
  const own = output ? "files_output" : "files_no_output";
  const named = (/** @type {string} */ code) => (logged ? "logged" : code); // a log states but one sum
  const more = String(BigInt(bytes) - BigInt(counted ?? bytes));
  const told = { counted: exactBytes(counted ?? bytes), format, more: signed(more) };
  const beside = counted === null ? "" : text(more === "0" ? "files_same" : "files_differ", told);
  return html`<p class="kv-files-sum"><strong .textContent=${heading}></strong></p>
    ${types ? html`<p class="gp-note kv-files-types" .textContent=${types}></p>` : nothing}
    ${dtypes.length ? html`<p class="kv-sum" .textContent=${sum}></p>` : nothing}
    ${dtypes.map(
      (one) =>
        html`<details class="kv-files-dtype" data-dtype=${one.dtype}>
          <summary
            .textContent=${text("files_dtype", { dtype: one.dtype, count: whole(one.tensors), bytes: both(one.bytes) })}
          ></summary>
          <ul>
            ${one.products.map((product) => productLine(product, factor))}
          </ul>
        </details>`,
    )}
    ${output === null ? nothing : html`<p class="gp-note" .textContent=${text(own)}></p>`}
    ${beside ? html`<p class="gp-note" .textContent=${beside}></p>` : nothing}
    <ul class="kv-log-steps">
      ${differences.map(
        (one) =>
          html`<li data-code=${one.code}>
            <strong .textContent=${text(`files_${named(one.code)}`)}></strong>
            <span class="kv-log-bytes" .textContent=${signed(one.bytes)}></span>
            <span
              class="gp-note"
              .textContent=${text(`files_${named(one.code)}_says`, { dtypes: one.dtypes.join(", "), format })}
            ></span>
          </li>`,
      )}
    </ul>`;
}

/**
 * What is wrong with a header, in the reader's language.
 *
 * @param {unknown} error
 * @param {Text} text
 */
function troubleOf(error, text) {
  if (!(error instanceof HeaderError)) throw error;
  return text(`header_${error.reason}`, error.params);
}

/**
 * The box, the button for files, and what they hold.
 *
 * @param {Text} text of the panel
 * @param {Text} factor
 * @param {(held: Held | null) => void} use told what was read; null where nothing is held any more
 */
export function weightsFile(text, factor, use) {
  const box = /** @type {HTMLTextAreaElement} */ (
    h("textarea", {
      id: "kv-files-box",
      rows: 4,
      spellcheck: "false",
      placeholder: '{ "metadata": { "total_size": … } }',
    })
  );
  const picker = /** @type {HTMLInputElement} */ (
    h("input", { type: "file", id: "kv-files-picker", multiple: "", accept: ".safetensors,.gguf,.json" })
  );
  const [trouble, result] = [h("p.kv-trouble", { role: "alert" }), h("div.kv-files-result", { "aria-live": "polite" })];
  /** @type {unknown} */
  let failed = null;

  /** @param {() => Promise<Held> | Held} work */
  async function read(work) {
    failed = null;
    try {
      use(await work());
    } catch (error) {
      failed = error;
      use(null);
    }
  }
  box.addEventListener("input", () => read(() => heldBy([readText(box.value)])));
  picker.addEventListener("change", () => read(() => readFiles([...(picker.files ?? [])])));
  const element = h(
    "details.kv-files",
    null,
    h("summary", { "data-text": "kv-fit.files" }),
    h("p.gp-note", { "data-text": "kv-fit.files_says" }),
    h(
      "div.kv-field.is-wide",
      { "data-field": "weight_file" },
      h("label", { for: picker.id, "data-text": "kv-fit.files_pick" }),
      picker,
    ),
    h(
      "div.kv-field.is-wide",
      { "data-field": "weight_header" },
      h("label", { for: box.id, "data-text": "kv-fit.files_box" }),
      box,
    ),
    trouble,
  );

  /** @param {Shown} shown */
  function show({ answer, held, trouble: refused }) {
    trouble.textContent = failed ? troubleOf(failed, text) : refused;
    render(answer ? answerView(answer, text, factor, held?.logged) : nothing, result);
  }

  /** Nothing is held any more: another model is asked about. */
  function clear() {
    [box.value, picker.value, failed] = ["", "", null];
  }
  return { element, result, show, clear };
}
