// What the server is asked for a file of what is shown (OneFile in app/one_file/request.py).

import { answeredAbout } from "../fetching.js";

/** @typedef {import("../decode.js").Trace} Trace */

/**
 * The runs that are shown, and where the reader looks in them.
 *
 * @param {Pick<import("../types.d.ts").Glass, "state">} glass
 * @returns {object[]}
 */
export function viewsOf({ state: { run, kept, locked } }) {
  const runs = /** @type {Trace[]} */ ([run, kept].filter(Boolean));
  return runs.map((one) => ({
    run: one.id,
    layer: Math.min(locked.layer, one.model.n_layers - 1),
    head: Math.min(locked.head, one.model.n_heads - 1),
    query: Math.min(locked.query, one.T - 1),
    key: Math.min(locked.key, one.T - 1),
    asked: answeredAbout(one),
  }));
}
