// Latest wins: while one question is under way only the newest of those that follow is kept, and asked next.

/**
 * @param {(request: any) => Promise<any>} ask
 * @param {(answer: any, request: any) => void} use
 * @returns {(request: any) => void} asks as soon as nothing else is under way
 */
export function latest(ask, use) {
  let busy = false;
  let waiting = null;

  async function next(request) {
    busy = true;
    const answer = await ask(request);
    busy = false;
    use(answer, request);
    if (!waiting) return;
    const [following] = waiting;
    waiting = null;
    next(following);
  }
  return (request) => {
    if (busy) waiting = [request];
    else next(request);
  };
}
