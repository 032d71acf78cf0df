// Which token of the source is looked at: one choice, kept in the link, for all sides.

/**
 * The source token that was clicked, where there is one and the run's source has it; else null.
 *
 * @returns {number | null}
 */
export function clickedSource({ settings, state: { trace } }) {
  const { source = "" } = settings.get("cross");
  return /^\d{1,4}$/.test(source) && Number(source) < trace.encoder.T ? Number(source) : null;
}

export const keepSource = (glass, source) => glass.settings.set("cross", { source });
