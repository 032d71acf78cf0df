// The page around the panels: what its controls ask for, the status line, the theme, gradio's own labels.

import { listsKeys } from "./keys.js";
import { createModels } from "./models.js";
import { openLink } from "./opening.js";
import { goesRound, samplingOf } from "./sampling.js";

/** A count as people say it, by language: what it is divided by, and the word for that. */
const SCALES = {
  en: [
    [1e9, " B"],
    [1e6, " M"],
    [1e3, " k"],
  ],
  zh: [
    [1e8, " 亿"],
    [1e4, " 万"],
  ],
};

/**
 * @param {number} count
 * @param {string} language
 * @param {number} [digits] of a number below 100
 * @returns {string} such as "6.6 M", "1.24 B" or "659 万"
 */
export function shortCount(count, language = "en", digits = 0) {
  const [scale, unit] = SCALES[language].find(([least]) => count >= least) ?? [1, ""];
  const value = count / scale;
  return `${unit && value < 100 ? Number(value.toPrecision(digits || (value < 2 ? 3 : 2))) : Math.round(value)}${unit}`;
}

/**
 * Whether any of a style sheet's rules finds something on the page.
 *
 * @param {CSSStyleSheet | null | undefined} sheet
 */
function applies(sheet) {
  const rules = /** @type {Partial<CSSStyleRule>[]} */ ([...(sheet?.cssRules ?? [])]);
  return rules.some(({ selectorText }) => selectorText && document.querySelector(selectorText));
}

const newTicket = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16)).join("-");

/**
 * @param store
 * @param texts
 * @param link what readLink found
 * @param settings of createSettings
 * @param config texts of gradio's components by name, and a prompt a language
 */
export function createPage(store, texts, link, settings, { labels, firstPrompts }) {
  const { state } = store;
  const models = createModels(texts.text, (count) => shortCount(count, state.language));
  let line = null;

  function setStatus(status) {
    state.status = status;
    document.body.dataset.status = status;
    document.body.toggleAttribute("data-busy", status !== "idle");
    showDevice();
  }

  let ticket = "";
  let controlsShown = null;
  let modelKnown = null;
  /** Resolves when the controls show what the page was opened with. */
  const controls = new Promise((done) => {
    controlsShown = done;
  });
  /** Resolves when it is known whether the link's model is one of this page's. */
  const model = new Promise((done) => {
    modelKnown = done;
  });

  /** Which run is shown, which layer is looked at, what Stop would stop: goes along with what a control asks for. */
  const view = (more = {}) => ({ run: state.run?.id ?? "", layer: state.locked.layer, ticket, ...more });

  /**
   * The inputs of an event that uses the model, [prompt, model, view], with the view filled in; where it writes on,
   * then how many tokens and how they are chosen, which the bar shows but the page's settings say.
   *
   * @param {boolean} [led] whether the server is to say what to look at first, as it does where nobody has chosen
   *   that
   */
  function begin(status, inputs, led = false) {
    const [prompt, model, , ...count] = inputs.slice(0, 4);
    ticket = newTicket();
    store.emit("begin", status); // what was still to be shown of a text is let go of
    if (count.length) store.toEnd(); // who writes on looks at what is written, not at a token kept before
    showMessage(null);
    setStatus(status);
    return [
      prompt,
      model,
      view(led || (!count.length && !store.chosen()) ? { layer: null } : {}),
      ...count,
      ...(count.length ? Object.values(samplingOf(settings)) : []),
    ];
  }

  /** What the first run is of: the prompt of the link, else the first example in the reader's language. */
  const firstPrompt = () => link.prompt ?? firstPrompts[state.language];

  /**
   * The messages to begin with, once the controls are there: the first run, and what is wrong with the link, if
   * anything.
   *
   * @param {(described: object) => Promise<object>} recall of fetching.js
   */
  async function first(recall) {
    const { messages, asked } = await openLink(link, firstPrompts[state.language], recall);
    link.model = asked.model;
    modelKnown();
    await controls;
    return messages;
  }

  let filling = {};
  /**
   * Puts values into gradio's components, which change through gradio's own event alone.
   *
   * @param {{ prompt?: string; model?: string }} values
   */
  function fill(values) {
    filling = values;
    changeBar?.();
  }
  /** For that event. */
  const filled = () => relabel(filling);
  let changeBar = null;
  /** @param {() => void} change raises the event */
  const onFill = (change) => {
    changeBar = change;
  };

  /** Updates for gradio's components, in the order of `labels`: their words, and for some a value. */
  const relabel = (values = {}) =>
    Object.entries(labels).map(([name, names]) => ({
      __type__: "update",
      ...Object.fromEntries(Object.entries(names).map(([property, key]) => [property, texts.text(key)])),
      ...(name === "model" && models.list().length && { choices: models.choices() }),
      ...(values[name] !== undefined && { value: values[name] }),
    }));

  /**
   * What the controls show when the page opens. The first run is shown once they do.
   *
   * @param {import("./models.js").Offer[]} offered
   */
  async function opened(offered = []) {
    models.offer(offered);
    if (link.model) await model;
    setTimeout(controlsShown);
    return relabel({ prompt: firstPrompt(), model: link.model, language: state.language });
  }

  function showDevice() {
    const device = line?.querySelector(".page-device");
    const { run: trace, status } = state;
    if (!device) return;
    if (!trace) device.textContent = texts.text("page.starting");
    else if (status === "running") device.textContent = texts.text("page.running");
    else if (status === "generating") {
      device.textContent = texts.text("page.generating", { count: trace.generating ? trace.steps.length : 0 });
    } else
      device.textContent = texts.text("page.device", {
        ...trace.model,
        parameters: shortCount(trace.model.n_parameters, state.language),
        tokens: trace.T + (trace.encoder?.T ?? 0),
        milliseconds: Math.max(1, Math.round(trace.seconds * 1000)),
      });
  }

  let shown = null;

  /**
   * Says a message in the page's language, or takes the last one away.
   *
   * @param {object | null} message
   */
  function showMessage(message) {
    shown = message;
    const place = line?.querySelector(".page-message");
    if (!place) return;
    place.hidden = !message;
    place.dataset.level = message?.level ?? "info";
    const known = message && texts.text(`message.${message.code}`, message.params);
    place.textContent = !message ? "" : known === `message.${message.code}` ? (message.params.detail ?? known) : known;
  }

  function showTheme(theme) {
    document.body.classList.toggle("dark", theme === "dark");
    state.theme = theme;
    store.repaint(true);
  }

  const parts = {
    header(element) {
      element
        .querySelector("#theme")
        .addEventListener("click", () => showTheme(state.theme === "dark" ? "light" : "dark"));
      listsKeys(element.querySelector("#shortcuts"), texts);
    },
    status(element) {
      line = element;
      showDevice();
      showMessage(shown);
    },
  };

  /**
   * Brings a fixed piece of the page to life.
   *
   * @param {string} part
   * @param {Element} element
   */
  function attach(part, element) {
    texts.translate(element);
    parts[part](element);
  }

  state.theme = document.body.classList.contains("dark") ? "dark" : "light";
  setStatus("loading");
  new MutationObserver(() => {
    const theme = document.body.classList.contains("dark") ? "dark" : "light";
    if (theme !== state.theme) showTheme(theme);
  }).observe(document.body, { attributes: true, attributeFilter: ["class"] });

  store.on("message", (message) => {
    showMessage(message);
    const writing = state.status === "generating" && state.run?.generating; // which a question that failed does not end
    if (!writing) setStatus("idle");
  });
  store.on("run", (trace) => {
    setStatus(trace.generating ? "generating" : "idle");
    showStop(trace);
  });
  store.on("steps", showDevice);
  store.on("language", () => {
    showDevice();
    showMessage(shown);
  });

  /** What is to be said of how a text ended: nothing if it simply has as many tokens as were asked for. */
  function ending({ steps, tokens, nPrompt }) {
    const { stop } = steps.at(-1) ?? {};
    if (stop !== "max_new_tokens") return stop;
    return samplingOf(settings).temperature === 0 && goesRound(tokens.ids.slice(nPrompt)) ? "loop" : undefined;
  }

  function showStop(trace) {
    const code = trace.generating ? undefined : ending(trace);
    if (code) showMessage({ level: "info", code, params: {} });
    else if (shown?.code !== "run_expired" || !trace.generating) showMessage(null);
  }

  /** Takes off what hides the page (late.css) once the first run is drawn and nothing is there that it waits for. */
  const dropLate = store.on("painted", () => {
    /** @type {HTMLLinkElement | null} */
    const late = document.querySelector("#glass-late");
    if (!state.trace || applies(late?.sheet)) return;
    late?.remove();
    dropLate();
  });

  return {
    parts,
    begin,
    first,
    opened,
    view,
    relabel,
    fill,
    filled,
    onFill,
    attach,
    setStatus,
    models: models.list,
    modelName: models.nameOf,
  };
}
