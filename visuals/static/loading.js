// How far the weights are of the network whose run is awaited: some are read at first use, which takes seconds.

const EVERY = 500; // ms between two looks; a run that is there sooner asks nothing

/**
 * Asks while a run is awaited, as long as the server can tell how far its network's weights are, and has
 * `state.loading` say it.
 *
 * @param {import("./types.d.ts").Store} store
 * @param {import("./types.d.ts").Fetching["calculate"]} calculate
 * @param {() => string | undefined} first the network of the first run, for as long as there is none
 * @param {() => string | null} bundled the network that is there from the start
 */
export function followLoading({ state, on, emit }, calculate, first, bundled) {
  let refused = false; // the first run
  /** @type {string | null} */
  let model = null;
  let timer = 0;

  /** @param {import("./store.js").State["loading"]} loading */
  function tell(loading) {
    if (!loading && !state.loading) return;
    state.loading = loading;
    emit("loading", loading);
  }
  /** @param {string} of */
  async function ask(of) {
    const { data } = await calculate("loading", { model: of });
    if (of !== model) return;
    tell(data?.loading ? { ...data.loading, model: of } : null);
    if (data?.loading) timer = setTimeout(ask, EVERY, of);
  }
  const opening = () => (state.run || refused ? null : (first() ?? null));
  function look() {
    const now = state.awaited ? (state.awaited.model ?? state.awaited.named ?? null) : opening();
    if (now === model) return;
    clearTimeout(timer);
    model = now;
    tell(null);
    if (now && now !== bundled()) timer = setTimeout(ask, EVERY, now);
  }
  on("awaited", look);
  on("run", look);
  on("message", () => {
    refused ||= !state.run;
    look();
  });
  look();
}
