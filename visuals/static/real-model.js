// The real LLaMA that a page can offer: whether its weights are there, and their download, which is the server's.

import { reactive } from "./reads.js";

const EVERY = 500; // ms between two looks at a download

/**
 * @typedef {import("./messages.d.ts").RealModelState} RealModelState
 *
 * @typedef {import("./types.d.ts").Refusal} Refusal
 */

/**
 * @param {import("./types.d.ts").Fetching["calculate"]} calculate
 * @param {Pick<import("./types.d.ts").Page, "offer" | "realModel">} page which models are on offer
 * @param {() => void} repaint
 */
export function createRealModel(calculate, { offer, realModel }, repaint) {
  /** @type {{ state: RealModelState | null; refusal: Refusal | null }} */
  const known = reactive({ state: null, refusal: null }, repaint);
  let timer = 0;

  /** @param {"fetch" | "cancel"} [act] */
  async function ask(act) {
    clearTimeout(timer);
    const { data, message } = await calculate("real_model", act ? { act } : {});
    known.refusal = message ?? null;
    if (data) {
      offer(data.offers);
      known.state = data.real;
    }
    if (known.state?.state === "fetching") timer = setTimeout(ask, EVERY);
  }
  return {
    /** Asks where it stands, and goes on asking while it is fetched. */
    look: () => ask(),
    fetch: () => ask("fetch"),
    cancel: () => ask("cancel"),
    /**
     * Whether it can be run now; null where the page is not to offer it, or does not know yet.
     *
     * @returns {RealModelState["state"] | null}
     */
    where: () => known.state?.state ?? (realModel() ? "there" : null),
    /** What the server said of it last, null where it was never asked. */
    state: () => known.state,
    /** Why the server gave no answer the last time. */
    refusal: () => known.refusal,
  };
}

/**
 * The button in the header that leads to it where it is not there yet.
 *
 * @param {import("./types.d.ts").Glass} glass
 */
export function offerRealModel(glass) {
  /** @type {ReturnType<typeof import("./real-dialog.js").createRealDialog> | null} */
  let dialog = null;
  document.addEventListener("click", async ({ target }) => {
    if (!(target instanceof Element) || !target.closest("#real")) return;
    const { createRealDialog } = await import("./real-dialog.js");
    dialog ??= createRealDialog(glass);
    dialog.show();
  });
  glass.on("painted", () => {
    /** @type {HTMLElement | null} */
    const button = document.querySelector("#real");
    if (button) button.hidden = [null, "there"].includes(glass.real.where());
  });
  const stop = glass.on("run", () => {
    stop();
    if (glass.mayGetReal()) glass.real.look();
  });
}
