// The CSV of B − A: everything that a panel's parts show, under one row of names.

const NUMBERS = ["A", "B", "B_minus_A"];

/**
 * @typedef {(string | number)[][]} Rows under a row of names, of which the last three are A, B and B_minus_A
 * @param {[string, Rows][]} parts each with its name
 * @returns {Rows} a row of any part has nothing under the names that only others have
 */
export function joined(parts) {
  const names = ["part", ...new Set(parts.flatMap(([, [head]]) => head.slice(0, -NUMBERS.length))), ...NUMBERS];
  const rows = parts.flatMap(([part, [head, ...lines]]) => {
    const places = names.map((name) => head.indexOf(name));
    return lines.map((line) => places.map((place, i) => (i === 0 ? part : place < 0 ? "" : line[place])));
  });
  return [names, ...rows];
}

/**
 * The value line's numbers.
 *
 * @param {string} at where
 * @param {Object<string, number>} first
 * @param {Object<string, number>} second
 * @param {Object<string, number>} between of which there is no A and no B
 * @returns {Rows}
 */
export function selectedRows(at, first, second, between) {
  const shared = Object.keys(second).filter((name) => name in first);
  return [
    ["at", "name", ...NUMBERS],
    ...Object.entries(between).map(([name, value]) => [at, name, "", "", value]),
    ...shared.map((name) => [at, name, first[name], second[name], second[name] - first[name]]),
  ];
}

/**
 * Values one after the other, each after its names.
 *
 * @param {string[]} heads
 * @param {(i: number) => (string | number)[]} name
 * @param {ArrayLike<number>} first
 * @param {ArrayLike<number>} second
 * @returns {Rows}
 */
export const rowsOf = (heads, name, first, second) => [
  [...heads, ...NUMBERS],
  ...Array.from(second, (value, i) => [...name(i), first[i], value, value - first[i]]),
];
