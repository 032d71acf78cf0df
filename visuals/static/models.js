// The networks that this page offers, and what a reader calls them.

/**
 * @typedef {{
 *   name: string;
 *   parameters: number;
 *   kind: "bundled" | "real" | "small" | null;
 *   family: string;
 *   examples: Examples;
 * }} Offer
 *   `name` is what a run and a link say; `kind` null: one that whoever opened the page asked for, known by its name;
 *   `examples`: which of the page's are its own
 *
 * @typedef {"world" | "english" | null} Examples
 */

/**
 * @param {import("./types.d.ts").Texts["text"]} text
 * @param {(count: number) => string} count parameters as people say them
 */
export function createModels(text, count) {
  /** @type {Offer[]} */
  let offered = [];
  let mayGetReal = false;
  /** @param {Offer} offer */
  const called = ({ name, kind, family, parameters }) =>
    kind ? text(`bar.model_${kind}`, { family, parameters: count(parameters) }) : name;
  /** @returns {{ name: string; label: string; parameters: number; small: boolean }[]} in the order of the picker */
  const list = () =>
    offered.map((one) => ({
      name: one.name,
      label: called(one),
      parameters: one.parameters,
      small: one.kind === "small",
    }));

  /**
   * Which of the page's examples are a network's own.
   *
   * @param {unknown} name
   */
  const examplesOf = (name) => offered.find((one) => one.name === name)?.examples ?? null;

  /**
   * Has the examples be those of this run's network (page.css).
   *
   * @param {string} name
   */
  function mark(name) {
    document.documentElement.dataset.examples = examplesOf(name) ?? "";
  }

  /**
   * @param {Offer[]} models
   * @param {boolean} [mayGet] whether the real LLaMA may be among them later
   */
  const offer = (models, mayGet = mayGetReal) => {
    offered = models;
    mayGetReal = mayGet;
  };
  /** @param {Offer["kind"]} wanted */
  const nameOfKind = (wanted) => offered.find(({ kind }) => kind === wanted)?.name ?? null;
  const realModel = () => nameOfKind("real");
  const bundledModel = () => nameOfKind("bundled");
  /**
   * What a reader calls a run's network.
   *
   * @param {string} name
   */
  const nameOf = (name) => list().find((one) => one.name === name)?.label ?? name;
  return {
    offer,
    list,
    nameOf,
    mark,
    examplesOf,
    realModel,
    bundledModel,
    mayGetReal: () => mayGetReal && !realModel(),
  };
}
