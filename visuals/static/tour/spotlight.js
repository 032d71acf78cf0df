// Brings a panel, or a part of it, into the room above the tour's bar, and marks it; keeps it there while what is drawn
// around it grows, until the reader scrolls.

const GAP = 8;

/** By how much to scroll so that a box stands in the room: in its middle if it fits, else from its top; never above its panel. */
export function offsetOf(box, panel, room) {
  const fits = box.height <= room - 2 * GAP;
  const by = box.top - (fits ? Math.max(GAP, (room - box.height) / 2) : GAP);
  return panel.height <= room - 2 * GAP ? panel.top - GAP : Math.max(by, panel.top - GAP);
}

/** @param {HTMLElement} bar at the bottom of the window */
export function createSpotlight(bar) {
  let [panel, part, following] = [null, null, false];
  const sizes = new ResizeObserver(() => aim());

  function aim() {
    document.body.style.setProperty("--tour-bar", `${bar.offsetHeight}px`);
    if (!following || !panel?.getClientRects().length) return;
    const box = (part?.getClientRects().length ? part : panel).getBoundingClientRect();
    const by = offsetOf(box, panel.getBoundingClientRect(), innerHeight - bar.offsetHeight);
    if (Math.abs(by) >= 1) scrollBy({ top: by, behavior: "instant" });
  }

  function mark(element, name, on) {
    element?.classList.toggle(name, on);
  }

  /** @param {string} kind of a panel @param {string} [selector] of a part of it, which may not be drawn yet */
  function show(kind, selector) {
    const found = document.querySelector(`section.glass-panel[data-kind="${kind}"]`);
    const inside = selector ? found?.querySelector(selector) ?? null : null;
    if (found === panel && inside === part) return;
    hide();
    [panel, part] = [found, inside];
    mark(panel, "is-spot", true);
    mark(part, "is-spot-part", true);
    for (const one of [document.querySelector(".page-body"), bar, panel]) if (one) sizes.observe(one);
    aim();
  }
  function hide() {
    sizes.disconnect();
    mark(panel, "is-spot", false);
    mark(part, "is-spot-part", false);
    panel = part = null;
  }
  /** Follows what is shown anew, wherever the reader has scrolled. */
  function follow() {
    following = true;
    aim();
  }
  const stay = ({ target }) => { if (!(target instanceof Element && bar.contains(target))) following = false; };
  for (const name of ["wheel", "touchmove", "pointerdown"]) addEventListener(name, stay, { passive: true });
  addEventListener("keydown", ({ key }) => { if (/^(Page|Home|End|Arrow(Up|Down)|Tab)/.test(key)) following = false; });
  return { show, hide, follow, aim };
}
