// What is said where an answer is none: a message of the page's own, as the server's messages are, for each way in
// which a request can fail.

/**
 * @typedef {{
 *   kind: "message";
 *   level: "error";
 *   code: string;
 *   params: Record<string, unknown>;
 *   unanswered: true;
 * }} Trouble
 *   `unanswered`: no service has read the request
 */

/** What a proxy answers for a server that is away. */
const BEHIND = new Set([502, 503, 504]);
const BY_STATUS = new Map([
  [408, "request_slow"],
  [413, "request_long"],
  [429, "asked_too_much"],
]);

/**
 * @param {string} code
 * @param {Record<string, unknown>} [params]
 * @returns {Trouble}
 */
const trouble = (code, params = {}) => ({ kind: "message", level: "error", code, params, unanswered: true });

/** There is no answer at all. */
export const LOST = trouble("no_connection");

/**
 * Troubles in which there may be no server: the page asks until there is one again.
 *
 * @param {{ code: string }} message
 */
export const isAway = ({ code }) => code === "no_connection" || code === "server_away";

/**
 * What went wrong on the server with an event.
 *
 * @param {string} [detail] in gradio's words
 */
export const failedOnServer = (detail) => trouble("internal", { detail: detail ?? "gradio" });

/**
 * @param {Response} answer
 * @returns {Promise<{ error?: string; detail?: unknown } | null>}
 */
const jsonOf = (answer) => answer.json().catch(() => null);

/**
 * What an answer says that is not the one which was asked for.
 *
 * @param {Response} answer
 * @returns {Promise<Trouble>}
 */
export async function troubleOf(answer) {
  const { status } = answer;
  const known = BY_STATUS.get(status);
  if (known) return trouble(known);
  const said = status === 503 ? await jsonOf(answer) : null;
  if (said?.error === "draining") return trouble("draining");
  if (said?.detail) return trouble("busy"); // gradio's queue is full
  if (answer.ok || BEHIND.has(status)) return trouble("server_away", { status });
  return trouble(status >= 500 ? "server_failed" : "refused", { status });
}
