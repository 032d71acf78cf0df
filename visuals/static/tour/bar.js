// The bar of a tour at the bottom of the window: the stops, what is said of this one, a question with its answer, and
// the ways.

import { h } from "../dom.js";

const SEVERAL = /\{(\w+)\|([^|}]*)\|([^|}]*)\}/g; // as texts.js has it; the number itself becomes an element
const LONG = 40; // characters

/**
 * @typedef {import("./tours.js").Tour & { way: ReturnType<typeof import("./tour.js").createTour> }} Walk a tour,
 *   and where one is in it
 */

/** The elements of the bar; what is pressed in it says so by `reveal` and `act`. */
function makeElements(ways, { reveal, act }) {
  const parts = {
    list: h("ol.tour-stops", { "data-text-label": "tour.stops" }),
    title: h("h2.tour-title", { id: "tour-title", tabindex: "-1" }),
    said: h("div.tour-said", { "aria-live": "polite" }),
    ask: h("p.tour-ask"),
    act: h("button.tour-button", { click: act }),
    reveal: h("button.tour-button", { "aria-expanded": "false", "aria-controls": "tour-answer", click: reveal }),
    answer: h("p.tour-answer", { id: "tour-answer", "aria-live": "polite", hidden: "" }),
    back: h("button.tour-button", { "data-text": "tour.back", click: ways.back }),
    next: h("button.tour-button.tour-next", { click: ways.next }),
  };
  const leave = h("button.tour-button", { "data-text": "tour.leave", click: ways.leave });
  const keys = h("span.tour-keys", { "data-text": "tour.keys" });
  const does = h("div.tour-does", null, parts.act, parts.reveal);
  const task = h("div.tour-task", null, parts.ask, does, parts.answer);
  const middle = h("div.tour-middle", null, parts.title, parts.said, task);
  const element = h(
    "aside.tour-bar",
    { role: "region", "aria-labelledby": "tour-title", hidden: "" },
    h("div.tour-top", null, parts.list, keys, leave, parts.back, parts.next),
    middle,
  );
  return { ...parts, middle, element };
}

/** A text with the run's numbers in it, as elements. */
function sentences(text, numbers) {
  const template = text.replace(SEVERAL, (_, name, one, several) => (numbers[name].text === "1" ? one : several));
  // A number may stand in a text twice; a list is not set off from the words around it.
  const number = (name) =>
    h(numbers[name].text.length > LONG ? "span" : "b", { "data-number": name }, numbers[name].text);
  return template.split(/\{(\w+)\}/).map((words, i) => (i % 2 ? number(words) : words));
}

/** @param {Object<string, import("./numbers.js").Said>} numbers */
const valuesOf = (numbers) => Object.fromEntries(Object.entries(numbers).map(([name, { value }]) => [name, value]));

/**
 * The stops as numbered buttons, those that are done with a tick.
 *
 * @param {HTMLElement} list
 * @param {(stop: string) => void} go
 */
function createDots(list, go) {
  let dots = [];
  function fill(stops) {
    dots = stops.map(({ name }) => h("button.tour-stop", { "data-stop": name, click: () => go(name) }));
    list.replaceChildren(...dots.map((dot) => h("li", null, dot)));
  }
  /**
   * @param {Walk} walk
   * @param {(number: number, stop: string) => string} titleOf
   * @param {string} done what is said of a stop that is done
   */
  function mark({ stops, way }, titleOf, done) {
    dots.forEach((dot, i) => {
      const { name } = stops[i];
      const ticked = way.isDone(name);
      dot.textContent = ticked ? "✓" : String(i + 1);
      dot.title = titleOf(i + 1, name);
      dot.setAttribute("aria-label", `${dot.title}${ticked ? `, ${done}` : ""}`);
      dot.classList.toggle("is-done", ticked);
      if (i === way.at()) dot.setAttribute("aria-current", "step");
      else dot.removeAttribute("aria-current");
    });
  }
  return { fill, mark };
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @param {{ next: () => void; back: () => void; leave: () => void; go: (stop: string) => void }} ways
 * @returns {{ element: HTMLElement; open: (walk: Walk | null) => void; tell: Function; speak: () => void }}
 */
export function createBar(glass, ways) {
  const text = (name, params) => glass.text(`tour.${name}`, params);
  const own = (name, params) => glass.text(`${walk.section}.${name}`, params);
  const { element, list, middle, title, said, ask, reveal, act, answer, back, next } = makeElements(ways, {
    reveal: () => show(answer.hidden),
    act: () => shown.act?.run(),
  });
  const dots = createDots(list, ways.go);
  let walk = null; // the tour that one is on
  let before = null; // what had the focus before the tour
  let shown = {};
  let last = ""; // what was last written, so that nothing is read out twice

  function show(open) {
    answer.hidden = !open;
    reveal.setAttribute("aria-expanded", String(open));
    reveal.textContent = text(open ? "hide" : "reveal");
    if (open) answer.scrollIntoView({ block: "nearest" }); // within the bar
  }

  /** @param {Walk | null} to the tour that one is on */
  function open(to) {
    const was = element.hidden;
    if (!element.isConnected) document.body.append(element);
    if (was && to) before = document.activeElement;
    element.hidden = !to;
    if (to && to !== walk) dots.fill(to.stops);
    walk = to;
    if (!to) return void (was || before?.focus?.({ preventScroll: true }));
    speak();
    middle.scrollTop = 0;
    title.focus({ preventScroll: true });
  }

  /** All words that do not depend on the run, in the page's language. */
  function speak() {
    if (!walk) return;
    const { stops, way } = walk;
    glass.translate(element);
    dots.mark(walk, (number, name) => text("stop", { number, name: own(name) }), text("done"));
    head(stops[way.at()].name);
    back.disabled = way.at() === 0;
    next.textContent = text(way.at() + 1 === stops.length ? "end" : "next");
    show(false);
    last = "";
  }

  /** @param {string} name of the stop, or of its title for the network that is shown */
  function head(name) {
    title.textContent = text("stop", { number: `${walk.way.at() + 1}/${walk.stops.length}`, name: own(name) });
  }

  /** Nothing is known of this stop yet. */
  function wait() {
    element.toggleAttribute("data-loading", true);
    if (last !== "") return;
    said.replaceChildren(h("p.tour-note", null, own("measuring")));
    for (const one of [ask, answer]) one.replaceChildren(); // they are still those of the stop before
    act.hidden = true;
  }

  /**
   * @param {import("./stops.js").Stop} stop
   * @param {import("./stops.js").Told | null} told null while it is being measured
   * @param {boolean} [changed] whether something is switched off in the run
   */
  function tell(stop, told, changed) {
    head(stop.title ?? stop.name);
    if (!told) return void wait();
    element.toggleAttribute("data-loading", false);
    const texts = stop.texts ?? stop.name;
    const { numbers, say = "", asks = say, answers = asks, act: does } = told;
    const note = changed && stop.namesChanges !== false ? [h("p.tour-note", null, text("changed"))] : [];
    const written = Object.values(numbers).map((one) => one.text);
    const how = [texts, say, asks, answers, does?.text, does?.busy, note.length];
    const now = JSON.stringify([glass.state.language, ...how, written]);
    shown = told;
    element.dataset.numbers = JSON.stringify(valuesOf(numbers));
    if (now === last) return;
    last = now;
    const words = (key) => sentences(own(`${texts}_${key}`), numbers);
    said.replaceChildren(h("p", null, ...words(`says${say}`)), ...note);
    ask.replaceChildren(...words(`asks${asks}`));
    answer.replaceChildren(...words(`answers${answers}`));
    act.hidden = !does;
    act.textContent = does ? own(does.text, valuesOf(numbers)) : "";
    act.disabled = Boolean(does?.busy);
    reveal.textContent = text(answer.hidden ? "reveal" : "hide");
  }
  return { element, open, tell, speak };
}
