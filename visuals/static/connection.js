// When the server does not answer: the page says what happened and, where there may be no server, asks until there is
// one again.

import { withEnds } from "./events.js";
import { isAway } from "./unanswered.js";

const AGAIN = 2000; // ms between two questions whether it is back

/**
 * Whether there is a server.
 *
 * @param {typeof fetch} ask
 */
async function answers(ask) {
  try {
    return (await ask("gradio_api/app_id", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/**
 * Says in which way the server did not answer, once, and that one that was away is back.
 *
 * @param {import("./types.d.ts").Store} store
 * @param {() => Promise<void>} found goes on where the page stood
 */
export function watchConnection(store, found) {
  const ask = window.fetch.bind(window);
  let away = false;
  let stands = false; // whether that is the last thing the reader heard
  window.fetch = withEnds(ask, async (trouble) => {
    const { run } = store.state;
    const wrote = Boolean(run?.generating);
    if (run) run.generating = false;
    store.awaitRun(null);
    store.emit("message", trouble);
    if (!wrote || isAway(trouble)) return;
    await found(); // what was written stays, and is run as it stands
    store.emit("message", trouble); // which that run took away
  });
  store.on("begin", () => {
    stands = false;
  });
  store.on("message", async (message) => {
    stands ||= isAway(message);
    if (!isAway(message) || away) return;
    away = true;
    do await new Promise((done) => setTimeout(done, AGAIN));
    while (!(await answers(ask)));
    away = false;
    await found();
    if (!away && stands) store.emit("message", { level: "info", code: "connected", params: {} });
  });
  return { answers: () => answers(ask) };
}
