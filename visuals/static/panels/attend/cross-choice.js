// Which token of the source is looked at: one choice, kept in the link, for all sides.

/**
 * The run that is shown, of a network whose layers look at a source.
 *
 * @param {Pick<import("../../types.d.ts").Glass, "state">} glass
 */
export const crossTrace = ({ state }) => /** @type {import("../../readings/cross.js").CrossTrace} */ (state.trace);

/**
 * The source token that was clicked, where there is one and the run's source has it; else null.
 *
 * @param {import("../../types.d.ts").Glass} glass
 * @returns {number | null}
 */
export function clickedSource(glass) {
  const { source = "" } = glass.settings.get("cross");
  return /^\d{1,4}$/.test(source) && Number(source) < crossTrace(glass).encoder.T ? Number(source) : null;
}

/**
 * @param {import("../../types.d.ts").Glass} glass
 * @param {number} source
 */
export const keepSource = (glass, source) => glass.settings.set("cross", { source });
