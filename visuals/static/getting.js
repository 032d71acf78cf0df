// How to get the real LLaMA where it is not there, and the way to run a text on it where it is.

import { copyButton } from "./controls.js";
import { html, nothing, render } from "./vendor/lit-html.js";

/**
 * @typedef {import("./types.d.ts").Glass} Glass
 *
 * @typedef {import("./messages.d.ts").RealModelState} RealModelState
 */

/** @param {number} bytes */
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/**
 * @param {Glass} glass
 * @param {() => string} promptOf the text that is run on it once it is there
 * @param {() => void} [began] called when it is run
 */
export function createGetting(glass, promptOf, began) {
  const element = document.createElement("div");
  element.className = "page-getting";
  /** @type {(name: string, params?: Record<string, unknown>) => string} */
  const text = (name, params) => glass.text(`real.${name}`, params);
  const copy = copyButton(
    "page-close",
    (key) => glass.text(key),
    ["real.copy", "page.copied"],
    () => command,
  );
  let command = "";
  /** @type {string | null} */
  let wanted = null; // the text that is to be run as soon as it is there: its download was begun here

  let running = false;
  async function run() {
    running = true;
    draw();
    began?.();
    try {
      await glass.read(promptOf(), glass.realModel() ?? undefined);
    } finally {
      running = false;
      draw();
    }
  }
  function fetch() {
    wanted = promptOf();
    glass.real.fetch();
  }
  function cancel() {
    wanted = null;
    glass.real.cancel();
  }
  /** @type {(name: string, act: () => void, params?: Record<string, unknown>) => unknown} */
  const button = (name, act, params) =>
    html`<button type="button" class="page-close" @click=${act} .textContent=${text(name, params)}></button>`;

  /** @param {RealModelState} state */
  const fetchingView = ({ bytes, total }) =>
    html`<p>
      <progress max=${total} value=${bytes} aria-label=${text("fetching_label")}></progress>
      <span .textContent=${text("fetching", { bytes: megabytes(bytes), total: megabytes(total) })}></span>
      ${button("cancel", cancel)}
    </p>`;

  /** @param {RealModelState} state */
  const absentView = ({ mayFetch, total, failed }) =>
    html`${failed ? html`<p class="page-failed" role="status" .textContent=${text(`failed_${failed}`)}></p>` : nothing}
      ${mayFetch ? html`<p>${button("fetch", fetch, { size: megabytes(total) })}</p>` : nothing}
      <p .textContent=${text(mayFetch ? "or_command" : "command", { size: megabytes(total) })}></p>
      <p class="page-command"><code .textContent=${command}></code>${copy}${button("look", glass.real.look)}</p>`;

  /** @type {(where: RealModelState["state"] | null, state: RealModelState | null) => unknown} */
  function viewOf(where, state) {
    if (running) return html`<p><progress aria-hidden="true"></progress></p>`;
    if (where === "there") return html`<p>${button("run", run)}</p>`;
    if (!state) return nothing;
    return where === "fetching" ? fetchingView(state) : absentView(state);
  }

  function draw() {
    const [where, state, refusal] = [glass.real.where(), glass.real.state(), glass.real.refusal()];
    command = state?.command ?? "";
    if (where === "there" && wanted !== null) {
      const isSame = wanted === promptOf();
      wanted = null;
      if (isSame) run();
    }
    const refused = refusal ? glass.text(`message.${refusal.code}`, refusal.params) : "";
    const said = running ? text("running") : refused;
    render(
      html`${viewOf(where, state)}
        <p role="status" ?hidden=${!said} .textContent=${said}></p>`,
      element,
    );
    glass.translate(element);
  }
  return { element, draw };
}
