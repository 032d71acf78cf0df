// Where the thumbnails stand: a column a layer and a row a head, on as many lines as the width asks for. Pure.

const [LEFT, TOP, GAP, BETWEEN] = [72, 24, 3, 10];
const GROUP = 6; // between heads that read different K/V heads, where heads share them
const [LEAST, MOST, TALLEST] = [26, 84, 520];

/** @typedef {{ size: number, perLine: number, height: number, place: (layer: number, head: number) => { x: number, y: number } }} Layout */

/** @param {number} width @param {{ n_layers: number, n_heads: number }} model @returns {Layout} */
export function layoutThumbs(width, { n_layers, n_heads, n_kv_heads }) {
  const groupSize = n_heads / n_kv_heads;
  const apart = groupSize > 1 ? GROUP : 0;
  const room = Math.max(1, width - LEFT);
  const fitting = Math.max(1, Math.floor(room / (LEAST + GAP)));
  const lines = Math.ceil(n_layers / fitting);
  const perLine = Math.ceil(n_layers / lines);
  const tall = Math.max(LEAST, Math.floor(TALLEST / n_heads) - GAP);
  const size = Math.max(8, Math.min(MOST, tall, Math.floor(room / perLine) - GAP));
  const lineHeight = TOP + n_heads * (size + GAP) + (n_kv_heads - 1) * apart + BETWEEN;
  const place = (layer, head) => ({
    x: LEFT + (layer % perLine) * (size + GAP),
    y: Math.floor(layer / perLine) * lineHeight + TOP + head * (size + GAP) + Math.floor(head / groupSize) * apart,
  });
  return { size, perLine, height: lines * lineHeight - BETWEEN, place };
}

/** @returns {{ layer: number, head: number }|null} the thumbnail under a point */
export function thumbAt({ size, perLine, place }, { n_layers, n_heads }, x, y) {
  const column = Math.floor((x - LEFT) / (size + GAP));
  if (column < 0 || column >= perLine) return null;
  for (let layer = column; layer < n_layers; layer += perLine) {
    for (let head = 0; head < n_heads; head++) {
      const top = place(layer, head).y;
      if (y >= top && y < top + size + GAP) return { layer, head };
    }
  }
  return null;
}
