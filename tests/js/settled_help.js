// Waiting for the state, not for a time: until nothing that the page put off is left to do.

let putOff = 0;

/** The browser's idle callback, which here comes with the next turn; `settled` knows of it. */
globalThis.requestIdleCallback = (work) => {
  putOff += 1;
  setImmediate(() => {
    putOff -= 1;
    work();
  });
};

/** Resolves once every answer that is there has been used, and what it led to has been asked and answered too. */
export async function settled() {
  do
    await new Promise((resolve) => setImmediate(resolve)); // by then no promise that can go on is left
  while (putOff);
}
