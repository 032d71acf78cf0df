// A notebook's cell with a file of runs in a frame: what anywidget asks of a widget (https://anywidget.dev). The frame
// is sandboxed: it has no access to the notebook. What a reader selects there is set in the widget's traits, and what
// Python sets in those is shown there (visuals/static/one-file/framed.js).

/**
 * @typedef {import("../../visuals/static/one-file/framed.js").Place} Place
 *
 * @typedef {{
 *   get: (name: string) => any;
 *   set: (name: string, value: unknown) => void;
 *   save_changes: () => void;
 *   on: (event: string, act: () => void) => void;
 *   off: (event: string, act: () => void) => void;
 * }} Model
 *   what anywidget hands over
 */

/** @type {(keyof Place)[]} the traits */
const TRAITS = ["layer", "head", "query", "key", "chapter", "panel", "language"];
const ALLOWED = "allow-scripts allow-downloads allow-modals";

/** @param {Model} model */
const placeOf = (model) => /** @type {Place} */ (Object.fromEntries(TRAITS.map((name) => [name, model.get(name)])));

/** JupyterLab says on its body whether it is light; elsewhere the file goes by the reader's system. */
const theme = () => ({ true: "light", false: "dark" })[document.body.dataset.jpThemeLight ?? ""];

/**
 * Keeps a frame and the traits in step.
 *
 * @param {Model} model
 * @param {HTMLIFrameElement} frame
 * @returns {() => void} ends it
 */
function keepInStep(model, frame) {
  /** @type {Partial<Place>} what the frame shows, or was told to */
  let shown = {};
  let sent = -1; // the number of what was said to the frame last; -1: it is not there yet
  let taking = false; // what the frame says into the traits, of which each tells of its change

  /** @param {Partial<Place> & { theme?: string }} place */
  function say(place) {
    sent += 1;
    frame.contentWindow?.postMessage({ glass: place, sent }, "*");
  }
  /** Says what the traits have and the frame does not show. */
  function send() {
    const wanted = placeOf(model);
    const changed = TRAITS.filter((name) => wanted[name] !== shown[name]);
    if (sent < 0 || taking || !changed.length) return;
    shown = wanted;
    say(Object.fromEntries(changed.map((name) => [name, wanted[name]])));
  }
  /** @param {MessageEvent} event */
  function hear({ source, data }) {
    if (source !== frame.contentWindow || !data?.glass) return;
    if (data.sent < 0) {
      // It has just opened, or once more: a notebook that moves a cell loads its frame again.
      say({ theme: theme() });
      shown = data.glass;
      return send();
    }
    if (data.sent !== sent) return; // from before it heard what was said last
    shown = data.glass;
    taking = true;
    for (const name of TRAITS) model.set(name, shown[name]);
    taking = false;
    model.save_changes();
  }
  addEventListener("message", hear);
  for (const name of TRAITS) model.on(`change:${name}`, send);
  return () => {
    removeEventListener("message", hear);
    for (const name of TRAITS) model.off(`change:${name}`, send);
  };
}

/** @param {{ model: Model; el: HTMLElement }} cell */
function render({ model, el }) {
  const address = URL.createObjectURL(new Blob([model.get("_html")], { type: "text/html" }));
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", ALLOWED);
  frame.allow = "clipboard-write; fullscreen";
  Object.assign(frame, { src: address, title: model.get("_title") });
  Object.assign(frame.style, { width: "100%", height: `${model.get("height")}px`, border: "0" });
  const resize = () => {
    frame.style.height = `${model.get("height")}px`;
  };
  model.on("change:height", resize);
  const stop = keepInStep(model, frame);
  el.append(frame);
  return () => {
    stop();
    model.off("change:height", resize);
    URL.revokeObjectURL(address);
  };
}

export default { render };
