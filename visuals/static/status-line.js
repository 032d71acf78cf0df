// The line under the controls: what the page is doing, what the run that is shown was read with, and one message.

import { awaitedText } from "./awaited.js";
import { shortCount } from "./counts.js";
import { percent, shown as number } from "./dom.js";
import { goesRound, samplingOf } from "./sampling.js";

/**
 * @typedef {{ level: string; code: string; params: Record<string, any> }} Message said in the page's language, by
 *   the text message.<code>
 */

/**
 * What is to be said of how a text ended: nothing if it simply has as many tokens as were asked for.
 *
 * @param {import("./decode.js").Trace} trace
 * @param {import("./types.d.ts").Settings} settings
 */
function ending({ steps, tokens, nPrompt }, settings) {
  const { stop } = steps.at(-1) ?? {};
  if (stop !== "max_new_tokens") return stop;
  return samplingOf(settings).temperature === 0 && goesRound(tokens.ids.slice(nPrompt)) ? "loop" : undefined;
}

/**
 * What runs on what; nothing while the page does something.
 *
 * @param {import("./store.js").State} state
 * @param {import("./types.d.ts").Texts["text"]} text
 */
function machineText({ run, status, language }, text) {
  if (!run || status !== "idle") return "";
  const words = text(run.model.int8 ? "page.device_int8" : "page.device", {
    ...run.model,
    ...errorOf(run.model),
    parameters: shortCount(run.model.n_parameters, language),
  });
  return `${words} · `;
}

/**
 * What the page is doing, or what it has read, in words.
 *
 * @param {import("./store.js").State} state
 * @param {import("./types.d.ts").Texts["text"]} text
 * @param {(model: string) => string} nameOf
 */
function nowText(state, text, nameOf) {
  const { run: trace, status, loading } = state;
  if (loading) return awaitedText(state, text, nameOf);
  if (!trace) return text("page.starting");
  if (status === "running") return awaitedText(state, text, nameOf);
  if (status === "generating") return text("page.generating", { count: trace.generating ? trace.steps.length : 0 });
  return readText(trace, text);
}

/**
 * How many tokens there are, and how long they, or the last that was written, took.
 *
 * @param {import("./decode.js").Trace} trace
 * @param {import("./types.d.ts").Texts["text"]} text
 */
function readText({ T, encoder, steps, seconds: whole }, text) {
  const seconds = steps.at(-1)?.seconds ?? whole;
  return text(steps.length ? "page.read_written" : "page.read", {
    tokens: T + (encoder?.T ?? 0),
    time:
      seconds < 10
        ? text("page.milliseconds", { count: Math.max(1, Math.round(seconds * 1000)) })
        : text("page.seconds", { count: seconds.toFixed(1) }),
  });
}

/**
 * What weights of 8 bits change in the answers, as the texts name it; nothing where there are none.
 *
 * @param {import("./decode.js").Trace["model"]} model
 */
function errorOf({ int8 }) {
  if (!int8) return {};
  const [rms, max, kl] = [int8.logit_rms, int8.logit_max, int8.kl].map((value) => number(value, 2));
  return { count: int8.tokens, rms, max, kl, same: percent(int8.same) };
}

/**
 * A message in the page's language; where it has no text for the code, the server's own words.
 *
 * @param {Message | null} message
 * @param {import("./types.d.ts").Texts["text"]} text
 */
function messageText(message, text) {
  if (!message) return "";
  const key = `message.${message.code}`;
  const known = text(key, message.params);
  return known === key ? (message.params.detail ?? known) : known;
}

/**
 * Of Generate and Stop the one is shown in the other's place, and has its focus. That of a pointer goes: Space is
 * to pause what is written.
 *
 * @param {Element | null} had
 */
function passFocus(had) {
  const next = { generate: "#stop", stop: "#generate" }[had?.id ?? ""];
  if (!next || had?.getClientRects().length) return;
  /** @type {HTMLElement | null} */ (document.querySelector(next))?.focus({ preventScroll: true });
}

/**
 * @param {import("./types.d.ts").Store} store
 * @param {import("./types.d.ts").Texts} texts
 * @param {import("./types.d.ts").Settings} settings
 * @param {(model: string) => string} nameOf what a reader calls a network
 */
export function createStatusLine(store, { text }, settings, nameOf) {
  const { state } = store;
  /** @type {Element | null} */
  let line = null;
  /** @type {Message | null} */
  let shown = null;
  let told = ""; // the quarter of a bar that was read aloud last

  function showDevice() {
    /** @type {HTMLElement | null | undefined} */
    const device = line?.querySelector(".page-device");
    if (!device) return;
    const [machine, now] = /** @type {HTMLElement[]} */ ([...device.children]);
    machine.textContent = machineText(state, text);
    now.textContent = nowText(state, text, nameOf);
    const model = state.run?.model;
    device.title = model?.int8 ? text("page.int8_error", { dtype: model.dtype, ...errorOf(model) }) : "";
  }

  /** The bar of weights that are awaited; what it has come to is read aloud at each quarter. */
  function showLoading() {
    showDevice();
    const { loading } = state;
    /** @type {HTMLProgressElement | null | undefined} */
    const bar = line?.querySelector(".page-loading");
    const said = line?.querySelector(".page-quarters");
    if (!bar || !said) return;
    bar.hidden = !loading;
    if (loading) Object.assign(bar, { max: loading.total, value: loading.done });
    const quarter = loading ? `${loading.model} ${Math.floor((4 * loading.done) / loading.total)}` : "";
    if (quarter !== told) said.textContent = loading ? awaitedText(state, text, nameOf) : "";
    told = quarter;
  }

  /** @param {string} status */
  function setStatus(status) {
    state.status = status;
    const { activeElement: active } = document;
    const had = active?.matches(":focus-visible") ? active : null;
    document.body.dataset.status = status;
    passFocus(had);
    document.body.toggleAttribute("data-busy", status !== "idle");
    showDevice();
    store.repaint(); // buttons of the panels and scenes wait with it
  }

  /**
   * Says a message in the page's language, or takes the last one away.
   *
   * @param {Message | null} message
   */
  function showMessage(message) {
    shown = message;
    /** @type {HTMLElement | null | undefined} */
    const place = line?.querySelector(".page-message");
    if (!place) return;
    place.hidden = !message;
    place.dataset.level = message?.level ?? "info";
    place.textContent = messageText(message, text);
  }

  /** @param {import("./decode.js").Trace} trace */
  function showStop(trace) {
    const code = trace.generating ? undefined : ending(trace, settings);
    if (code) showMessage({ level: "info", code, params: {} });
    else if (shown?.code !== "run_expired" || !trace.generating) showMessage(null);
  }

  store.on("message", (message) => {
    showMessage(message);
    const writing = state.status === "generating" && state.run?.generating; // which a question that failed does not end
    if (!writing && !state.awaited) setStatus("idle");
  });
  store.on("again", (message) => {
    if (shown === message) showMessage(null);
  });
  store.on("run", (trace) => {
    setStatus(state.awaited ? "running" : trace.generating ? "generating" : "idle");
    showStop(trace);
  });
  store.on("steps", showDevice);
  store.on("loading", showLoading);
  store.on("language", () => {
    showDevice();
    showMessage(shown);
  });

  /** @param {Element} element the line of the page */
  function attach(element) {
    line = element;
    showLoading();
    showMessage(shown);
  }
  return { attach, setStatus, showMessage };
}
