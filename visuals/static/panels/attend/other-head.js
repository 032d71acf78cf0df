// Head B of the panel of two heads: one setting, kept in the link, for every run.

/**
 * What was chosen, at first the head after the locked one.
 *
 * @returns {{ layer: number; head: number }}
 */
export function otherHead({ state, settings }) {
  const { n_layers, n_heads } = state.trace.model;
  const { layer, head } = settings.get("difference");
  const whole = (value, count, otherwise) =>
    /^\d{1,4}$/.test(value ?? "") ? Math.min(Number(value), count - 1) : otherwise;
  return {
    layer: whole(layer, n_layers, state.locked.layer),
    head: whole(head, n_heads, (state.locked.head + 1) % n_heads),
  };
}
