// In the place of a server: what the file holds (FileContents in visuals/messages/one_file.py). All else is refused, in
// words that say so.

import { outOfPlanes } from "./planes.js";

/**
 * @typedef {import("../messages.d.ts").FileContents} FileContents
 *
 * @typedef {import("../types.d.ts").Server} Server
 *
 * @typedef {import("../types.d.ts").RunRequest} RunRequest
 */

/** @param {string} code */
const refusal = (code) => ({ kind: "message", level: "info", code, params: {}, unanswered: code === "file_run" });

/**
 * A question as a text, whatever the order of its fields; key_of in app/one_file/recording.py writes it, too.
 *
 * @param {Record<string, unknown>} question
 */
export function keyOf(question) {
  const fields = Object.entries(question).filter(([, value]) => value !== undefined);
  return JSON.stringify(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * What tells changes of runs apart; `source` names a run that patches came from as a server knew it.
 *
 * @param {object | undefined} changes
 */
const changesKey = (changes = {}) => keyOf({ ...changes, source: undefined });

/**
 * The run of the file that a request describes; where it names none or its prompt alone, the first of that prompt.
 *
 * @param {FileContents["runs"]} runs
 * @param {RunRequest} request
 */
function runOf(runs, { prompt, model, generated, changes }) {
  const fits = runs.filter((run) => run.prompt === prompt && (model ?? run.model) === run.model);
  const same = fits.filter((run) => run.generated.join() === generated.join());
  const exact = same.find((run) => changesKey(run.changes) === changesKey(changes));
  return (
    exact ?? (Object.keys(changes ?? {}).length ? undefined : (same[0] ?? (generated.length ? undefined : fits[0])))
  );
}

/**
 * The code behind a panel, as code_payload in visuals/source_code.py puts it together.
 *
 * @param {FileContents["code"]} code
 * @param {{ run: string; layer: number; panel: string; tensors: string[] }} asked
 * @returns {import("../messages.d.ts").CodeDetail | undefined}
 */
function codeOf({ excerpts, layers }, { run, layer, panel, tensors }) {
  const of = layers.find((one) => one.run === run && one.layers.includes(layer));
  if (!of) return undefined;
  /** @type {Map<number, import("../messages.d.ts").Making[]>} by the excerpt's number */
  const makes = new Map();
  for (const tensor of tensors.filter((name) => Object.hasOwn(of.tensors, name))) {
    const [at, line] = of.tensors[tensor];
    makes.set(at, [...(makes.get(at) ?? []), { tensor, line }]);
  }
  for (const at of of.panels[panel] ?? []) if (!makes.has(at)) makes.set(at, []);
  return { excerpts: [...makes].map(([at, made]) => ({ ...excerpts[at], makes: made })) };
}

/**
 * @param {FileContents["layers"]} held
 * @param {string} run
 * @param {number[]} wanted
 */
function layersOf(held, run, wanted) {
  const found = wanted.map((layer) => held.find((one) => one.run === run && one.layer === layer));
  return found.every(Boolean) && { kind: "layers", run, layers: found };
}

/**
 * @param {FileContents} contents
 * @returns {Server}
 */
export function createServer({ runs, layers, neurons, details, calculations, code }) {
  /** @type {(found: unknown, code?: string) => Promise<any>} a message, with its arrays as a server sends them */
  const answer = async (found, code = "file_lacks") => (found ? outOfPlanes(found) : refusal(code));
  /** @type {(kind: string, data: unknown, more: object) => unknown} */
  const message = (kind, data, more) => data && { kind, ...more, data };
  /** @type {(asked: any) => unknown} the answer to one of app/chapters' DETAILS */
  const detailOf = (asked) => (asked.what === "code" ? codeOf(code, asked) : details[keyOf(asked)]);
  const cannot = () => answer(undefined, "file_run");
  return {
    recall: async (request) => {
      const found = await answer(runOf(runs, request)?.message, "file_run");
      return request.layer === undefined ? found : { ...found, start: undefined };
    },
    layers: ({ run, layers: wanted }) => answer(layersOf(layers, run, wanted)),
    neurons: ({ run, layer, token }) =>
      answer(token === null && neurons.find((one) => one.run === run && one.layer === layer)),
    detail: (asked) => answer(message("detail", detailOf(asked), { run: asked.run, what: asked.what })),
    calculate: (asked) => answer(message("calculation", calculations[keyOf(asked)], { what: asked.what })),
    rerun: cannot,
    change: cannot,
    cut: cannot,
    one_file: cannot,
  };
}
