// What a story is to tell of a network's decoder, where a reader may have chosen its encoder.

/** @typedef {import("../types.d.ts").Glass} Glass */

/**
 * Whether the encoder of a run is what is shown.
 *
 * @param {Glass} glass
 */
export const showsEncoder = ({ state: { trace } }) => Boolean(trace?.whole);

/**
 * The same page, with the decoder's run in place of the encoder's, and layer and head within it; what is selected
 * is then shown of the decoder.
 *
 * @param {Glass} glass
 * @returns {Glass}
 */
export function ofDecoder(glass) {
  const state = new Proxy(glass.state, {
    get(own, name) {
      const shown = own.trace;
      const whole = shown?.whole;
      if (!whole) return Reflect.get(own, name);
      if (name === "trace") return whole;
      const most = { layer: whole.model.n_layers, head: whole.model.n_heads }[String(name)];
      return most ? Math.min(Reflect.get(own, name), most - 1) : Reflect.get(own, name);
    },
  });
  return {
    ...glass,
    state,
    detail: (what, params, trace = state.trace ?? undefined) => glass.detail(what, params, trace),
    select: (at) => (showsEncoder(glass) ? glass.readStack("decoder", at) : glass.select(at)),
  };
}
