// Packed arrays as a file of runs holds them (app/one_file/planes.py): the first bytes of all numbers, then the second.

/** Bytes of a number. @type {Record<string, number>} */
const WIDTHS = { f4: 4, f2: 2, u1: 1, u2: 2, i4: 4 };

/**
 * The bytes number by number.
 *
 * @param {string} data in base64
 * @param {number} width bytes of a number
 */
function numberByNumber(data, width) {
  const planes = atob(data);
  const count = planes.length / width;
  let text = "";
  for (let i = 0; i < count; i++) for (let plane = 0; plane < width; plane++) text += planes[plane * count + i];
  return btoa(text);
}

/**
 * A message with its arrays as a server sends them.
 *
 * @param {any} value
 * @returns {any}
 */
export function outOfPlanes(value) {
  if (Array.isArray(value)) return value.map(outOfPlanes);
  if (typeof value !== "object" || value === null) return value;
  const { dtype, shape, data } = value;
  if (dtype && shape && typeof data === "string") return { ...value, data: numberByNumber(data, WIDTHS[dtype]) };
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, outOfPlanes(part)]));
}
