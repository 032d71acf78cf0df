// The tours on the page: goes to a stop's chapter, selects what matters in this run, shows the panel and says its
// numbers.

import { addressOf } from "../addresses.js";
import { isChanged } from "../off.js";
import { createReturn } from "./return.js";
import { h } from "../dom.js";
import { createBar } from "./bar.js";
import { listenToTour } from "./keys.js";
import { createPlaces } from "./places.js";
import { openProgress } from "./progress.js";
import { createSpotlight } from "./spotlight.js";
import { createTour } from "./tour.js";
import { TOURS, tourOf } from "./tours.js";

/** Each way that a bar or a key leads, in the tour that one is on. */
const waysIn = (tourNow) =>
  /** @type {Record<"next" | "further" | "back" | "leave" | "go", (stop?: string) => void>} */ (
    Object.fromEntries(
      ["next", "further", "back", "leave", "go"].map((name) => [name, (...given) => tourNow()?.way[name](...given)]),
    )
  );

/** The page as a stop needs it: its chapter and panel, and of two runs or two stacks the one that it speaks of. */
function openFor(glass, stop) {
  const { state } = glass;
  if (state.side === "B-A") glass.showSide("B"); // a stop speaks of one run
  if (state.trace?.whole) glass.readStack("decoder"); // of two stacks the one that chooses
  if (state.chapter !== stop.chapter) glass.way.led(() => glass.open(stop.chapter));
  glass.reveal(stop.panel);
}

/** Selects what a stop speaks of, once for each stop of each run: the reader's own choice after that stays. */
function createLead(glass) {
  let last = {};
  return {
    forget: () => {
      last = {};
    },
    select(stop, found) {
      const selection = stop.select(found, glass);
      const where = JSON.stringify(selection);
      if (last.stop === stop.name && last.found === found && last.where === where) return;
      last = { stop: stop.name, found, where };
      queueMicrotask(() => glass.selectByPage(selection));
    },
  };
}

/**
 * @param {import("../types.d.ts").Glass} glass
 * @returns {{ go: (name: string) => void; tours: import("./bar.js").Walk[] }} `go` to a stop, or to where one left
 *   a tour
 */
export function createGuide(glass) {
  const { state } = glass;
  const places = createPlaces(glass);
  const progress = openProgress();
  const tours = TOURS.map((tour) => ({
    ...tour,
    way: createTour(
      tour.stops.map(({ name }) => name),
      progress.get(tour.name),
      () => changed(tour.name),
    ),
  }));
  let now = null; // the tour that one is on
  const ways = waysIn(() => now);
  const bar = createBar(glass, ways);
  const spotlight = createSpotlight(bar.element);
  const before = createReturn(glass);
  const lead = createLead(glass);
  document.head.append(h("link", { rel: "stylesheet", href: addressOf("tour/style.css") }));
  listenToTour(() => now !== null, { ...ways, next: ways.further });

  /**
   * Where one is, as the network that is shown has it.
   *
   * @returns {import("./stops.js").StopOf<import("./places.js").Places | import("../decode.js").Trace> | undefined}
   */
  const stopNow = () => {
    const stop = now?.stops[now.way.at()];
    return stop?.of && state.trace ? { ...stop, ...stop.of(state.trace.model) } : stop;
  };

  /**
   * A tour was gone through, begun or left: where one is, is written into the link.
   *
   * @param {string} name of the tour
   */
  function changed(name) {
    const tour = tours.find((one) => one.name === name);
    const was = now;
    if (tour.way.at() >= 0) now = tour;
    else if (now === tour) now = null;
    if (now && !was) before.keep();
    if (was && !now) before.bring();
    progress.set(name, tour.way.saved());
    const stop = stopNow();
    glass.settings.set("tour", { stop: stop?.name });
    document.body.toggleAttribute("data-tour", Boolean(stop));
    bar.open(now);
    if (!stop) return void spotlight.hide();
    lead.forget();
    openFor(glass, stop);
    before.during(() => stop.set?.(glass));
    spotlight.follow();
    draw();
    glass.repaint();
  }

  function draw() {
    const stop = stopNow();
    if (!stop || !state.trace || state.trace.whole) return; // who looks at an encoder meanwhile comes back to the stop
    if (now.isThere?.(glass) === false) return void absent();
    const found = now.places ? places() : state.trace;
    if (state.chapter === stop.chapter) spotlight.show(stop.panel, stop.parts);
    else spotlight.hide(); // the reader looks at something else meanwhile
    if (!found) return void bar.tell(stop, null);
    lead.select(stop, found);
    const told = stop.told(glass, found);
    bar.tell(
      stop,
      told && { ...told, act: told.act && { ...told.act, run: () => before.during(told.act.run, told.act.changes) } },
      isChanged(state.trace),
    );
  }

  /** The model that is shown has nothing that this tour could speak of. */
  function absent() {
    const { gone } = now;
    ways.leave();
    glass.publish({ kind: "message", level: "info", code: gone, params: {} });
  }

  function go(name) {
    const tour = tours.find((one) => one.name === tourOf(name)?.name);
    if (!tour) return;
    if (now !== tour) ways.leave();
    if (tour.name === name) tour.way.resume();
    else tour.way.go(name);
  }
  glass.on("painted", draw);
  glass.on("language", () => bar.speak());
  return { go, tours };
}
