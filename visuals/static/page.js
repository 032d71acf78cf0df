// The page around the panels: what its controls ask for, and its fixed pieces.

import { followAwaited, followEntered, sendsBeside } from "./awaited.js";
import { createBar } from "./bar.js";
import { shortCount } from "./counts.js";
import { markExample, promptFor } from "./examples.js";
import { listsKeys } from "./keys.js";
import { isStory } from "./level.js";
import { createModelPicker } from "./model-picker.js";
import { createModels } from "./models.js";
import { firstPrompt, openLink } from "./opening.js";
import { samplingOf } from "./sampling.js";
import { createStatusLine } from "./status-line.js";
import { followTheme } from "./theme.js";

/**
 * @typedef {import("./types.d.ts").Store} Store
 *
 * @typedef {import("./types.d.ts").Texts} Texts
 *
 * @typedef {ReturnType<typeof import("./link.js").readLink>} Link
 *
 * @typedef {{ run: string; layer: number | null; ticket: string }} View which run is shown, which layer is looked
 *   at, and what Stop would stop
 */

/**
 * Whether any of a style sheet's rules finds something on the page.
 *
 * @param {CSSStyleSheet | null | undefined} sheet
 */
function applies(sheet) {
  const rules = /** @type {Partial<CSSStyleRule>[]} */ ([...(sheet?.cssRules ?? [])]);
  return rules.some(({ selectorText }) => selectorText && document.querySelector(selectorText));
}

/**
 * Takes off what hides the page (late.css) once the first run is drawn and nothing is there that it waits for.
 *
 * @param {Store} store
 */
function dropLate(store) {
  const stop = store.on("painted", () => {
    /** @type {HTMLLinkElement | null} */
    const late = document.querySelector("#glass-late");
    if (!store.state.trace || applies(late?.sheet)) return;
    late?.remove();
    stop();
  });
}

/** What others wait for until it is opened. */
function createGate() {
  let open = () => {};
  /** @type {Promise<void>} */
  const opened = new Promise((done) => {
    open = done;
  });
  return { opened, open };
}

const newTicket = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16)).join("-");

/**
 * What goes along with what a control asks for.
 *
 * @param {Store} store
 * @param {import("./types.d.ts").Settings} settings
 * @param {Pick<ReturnType<typeof createStatusLine>, "setStatus" | "showMessage">} line
 */
function createRequests(store, settings, { setStatus, showMessage }) {
  const { state } = store;
  let ticket = "";
  /**
   * @param {Partial<View>} [more]
   * @returns {View}
   */
  const view = (more = {}) => ({ run: state.run?.id ?? "", layer: state.locked.layer, ticket, ...more });

  /**
   * The inputs of an event that uses the model, [prompt, model, view], with the view filled in; where it writes on,
   * then how many tokens and how they are chosen, which the bar shows but the page's settings say.
   *
   * @param {string} status
   * @param {unknown[]} inputs
   * @param {boolean} [led] whether the server is to say what to look at first, as it does in a story, which looks
   *   where it leads, and where nobody has chosen that; beside a kept run both are looked at in one place
   */
  function begin(status, inputs, led = false) {
    const [given, model, , ...count] = inputs.slice(0, 4);
    const { awaited } = state;
    // what was entered while another run was under way, and not what was typed since
    const prompt = awaited?.entered && awaited.model === model && !count.length ? awaited.prompt : given;
    ticket = newTicket();
    store.emit("begin", status); // what was still to be shown of a text is let go of
    if (count.length) store.toEnd(); // who writes on looks at what is written, not at a token kept before
    showMessage(null);
    if (!sendsBeside(awaited, String(prompt))) {
      store.awaitRun({ prompt: String(prompt), model: String(model), act: count.length ? "write" : "read" });
      setStatus(status);
    }
    const isFree = isStory(state.chapter) || (!store.chosen() && !state.kept);
    return [
      prompt,
      model,
      view(led || (!count.length && isFree) ? { layer: null } : {}),
      ...count,
      ...(count.length ? Object.values(samplingOf(settings)) : []),
    ];
  }
  return { view, begin };
}

/**
 * How the page opens: what its controls then show, and the first run, which is shown once they do.
 *
 * @param {import("./store.js").State} state
 * @param {Link} link
 * @param {Pick<import("./messages.d.ts").PageConfig, "firstPrompts" | "firstOf">} config
 * @param {ReturnType<typeof createModels>} models
 * @param {ReturnType<typeof createBar>} bar
 */
function createOpening(state, link, config, models, { relabel }) {
  const controls = createGate(); // open when the controls show what the page was opened with
  const model = createGate(); // open when it is known whether the link's model is one of this page's
  /** @type {string | undefined} */
  let ran; // the prompt of the first run

  /**
   * The messages to begin with, once the controls are there: the first run, and what is wrong with the link, if
   * anything.
   *
   * @param {Parameters<typeof openLink>[2]} recall of fetching.js
   */
  async function first(recall) {
    const { messages, asked } = await openLink(link, firstPrompt(config, link.model, state.language), recall);
    link.model = asked.model;
    ran = asked.prompt;
    model.open();
    await controls.opened;
    return messages;
  }

  /**
   * What the controls show when the page opens.
   *
   * @param {import("./models.js").Offer[]} offered
   * @param {boolean} [mayGetReal] whether the real LLaMA may be among them later
   */
  async function opened(offered = [], mayGetReal = false) {
    models.offer(offered, mayGetReal);
    if (link.model) await model.opened;
    setTimeout(controls.open);
    // the prompt of the link, else the first example in the reader's language, or of the link's model
    const prompt = link.prompt ?? ran ?? firstPrompt(config, link.model, state.language);
    return relabel({ prompt, model: link.model, language: state.language });
  }
  return { first, opened };
}

/**
 * @param {Store} store
 * @param {Texts} texts
 * @param {Link} link
 * @param {import("./types.d.ts").Settings} settings
 * @param {Pick<import("./messages.d.ts").PageConfig, "labels" | "firstPrompts" | "firstOf">} config texts of
 *   gradio's components by name, and a prompt a language
 */
export function createPage(store, texts, link, settings, config) {
  const { state } = store;
  const models = createModels(texts.text, (count) => shortCount(count, state.language));
  store.on("run", ({ model, prompt }) => {
    models.mark(model.name);
    markExample(prompt);
  });
  const line = createStatusLine(store, texts, settings, models.nameOf);
  followEntered(store);
  followAwaited(store, texts, models.nameOf);
  const picker = createModelPicker(models, texts);
  const bar = createBar(config.labels, texts, picker.draw);
  const switchTheme = followTheme(store);
  line.setStatus("loading");
  dropLate(store);

  /** @type {Record<string, (element: HTMLElement) => void>} the page's fixed pieces, by name */
  const parts = {
    header(element) {
      element.querySelector("#theme")?.addEventListener("click", switchTheme);
      const keys = /** @type {HTMLElement | null} */ (element.querySelector("#shortcuts"));
      if (keys) listsKeys(keys, texts);
    },
    status: line.attach,
  };

  /**
   * Brings a fixed piece of the page to life.
   *
   * @param {string} part
   * @param {HTMLElement} element
   */
  function attach(part, element) {
    texts.translate(element);
    parts[part](element);
  }

  /**
   * What is on offer now; where that is more than before, the picker shows it.
   *
   * @param {import("./models.js").Offer[]} offered
   */
  function offer(offered) {
    const before = models.list().length;
    models.offer(offered);
    if (offered.length !== before) bar.fill({});
  }

  /** @type {{ prompt?: string } | null} */
  let before = null; // while the answer of a network that was chosen has not come: the prompt that it took the place of

  /**
   * The inputs of an event that has another network run the prompt: of an example of other networks, one of its
   * own.
   *
   * @param {unknown[]} inputs
   */
  function picked([given, model, ...others]) {
    const prompt = promptFor(String(given), models.examplesOf(model), state.language);
    before = prompt === given ? {} : { prompt: String(given) };
    if (prompt !== given) bar.fill({ prompt });
    return [prompt, model, ...others];
  }

  store.on("run", () => {
    before = null;
  });
  // A list says nothing where what it shows is chosen again: after a failure it shows whose run is there, and the
  // network can be chosen anew. With a text that was refused it stands, for another text.
  store.on("message", ({ level, code }) => {
    if (!before || state.awaited || level !== "error") return;
    if (state.run && !code.startsWith("prompt_")) bar.fill({ ...before, model: state.run.model.name });
    before = null;
  });

  return {
    parts,
    attach,
    picker,
    offer,
    picked,
    realModel: models.realModel,
    bundledModel: models.bundledModel,
    mayGetReal: models.mayGetReal,
    ...createRequests(store, settings, line),
    ...createOpening(state, link, config, models, bar),
    ...bar,
    setStatus: line.setStatus,
    models: models.list,
    modelName: models.nameOf,
  };
}
