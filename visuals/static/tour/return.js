// When a tour is left, the reader is back where it began, and what the tour itself has changed is as it was: settings
// of panels, and heads that it has switched off.

import { isChanged } from "../off.js";
import { listed } from "../run-changes.js";

/**
 * @param {import("../types.d.ts").Glass} glass
 * @returns {{ keep: () => void; during: (act: () => void, changes?: object) => void; bring: () => void }} `keep`:
 *   how it is, and where the reader is, before the tour; `during`: what the tour does, with the changes of the run
 *   that it asks for; `bring`: back to that. What the reader has changed elsewhere stays, and so does what was
 *   switched off before.
 */
export function createReturn(glass) {
  const { settings, state } = glass;
  let kept = {}; // by name: the settings before the tour
  let place = null; // where the reader was
  const touched = new Set();
  let acting = false;
  let plain = true; // nothing was switched off before
  let heads = null; // how many of them the tour has switched off
  glass.on("settings", (name) => {
    if (acting) touched.add(name);
  });

  const stillOurs = () => {
    const off = listed(state.run?.changes ?? {});
    return heads > 0 && off.length === heads && off.every(({ kind }) => kind === "heads");
  };
  return {
    keep() {
      place = glass.way.here();
      kept = structuredClone({ ...state.settings });
      touched.clear();
      heads = null;
      plain = !state.run || !isChanged(state.run);
    },
    during(act, changes) {
      acting = true;
      act();
      acting = false;
      if (changes) heads = changes.heads?.length ?? 0;
    },
    bring() {
      if (touched.size)
        settings.restore({
          ...state.settings,
          ...Object.fromEntries([...touched].map((name) => [name, kept[name] ?? {}])),
        });
      if (plain && stillOurs()) glass.change({});
      glass.way.goTo(place);
    },
  };
}
