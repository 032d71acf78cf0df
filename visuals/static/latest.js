// Latest wins: while one question is under way only the newest of those that follow is kept, and asked next.

/**
 * @template Request
 * @template Answer
 * @param {(request: Request) => Promise<Answer>} ask
 * @param {(answer: Answer, request: Request) => void} use
 * @returns {(request: Request) => void} asks as soon as nothing else is under way
 */
export function latest(ask, use) {
  let busy = false;
  /** @type {[Request] | null} */
  let waiting = null;

  /** @param {Request} request */
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
