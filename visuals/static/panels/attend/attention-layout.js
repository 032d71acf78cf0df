// Where the head maps stand: in frames by K/V head, as many beside each other as fit. Pure.

const [PAD, GAP, TOP, CAPTION] = [10, 14, 28, 24];
const NARROW = 480; // below this the legend takes one line more for what is not its scale
const [LEAST, MOST] = [92, 240]; // side of a map, unless even one does not fit

/**
 * @typedef {{ kv: number, first: number, last: number, x: number, y: number, width: number, height: number }} Frame
 * @typedef {{ boxes: { head: number, x: number, y: number }[], frames: Frame[], size: number, legend: number,
 *             narrow: boolean, height: number }} Layout
 * `size`: side of a map; `legend`: where the scale starts; all in pixels to draw in */

/** Columns of maps in a frame and frames in a row, so that maps are at least LEAST wide where that can be. */
function arrange(width, groups, groupSize) {
  const sizeFor = (frames, columns) => (width - (frames - 1) * GAP) / frames - 2 * PAD - (columns - 1) * GAP;
  for (let frames = groups; frames > 1; frames--) {
    const size = sizeFor(frames, groupSize) / groupSize;
    if (size >= LEAST) return { frames, columns: groupSize, size };
  }
  const columns = Math.max(1, Math.min(groupSize, Math.floor((width - 2 * PAD + GAP) / (LEAST + GAP))));
  return { frames: 1, columns, size: sizeFor(1, columns) / columns };
}

/** @param {number} width CSS pixels @param {{ n_heads: number, n_kv_heads: number }} model @returns {Layout} */
export function layoutMaps(width, model) {
  const groupSize = model.n_heads / model.n_kv_heads;
  const { frames: across, columns, size: wide } = arrange(width, model.n_kv_heads, groupSize);
  const size = Math.floor(Math.min(wide, MOST));
  const frameWidth = 2 * PAD + columns * size + (columns - 1) * GAP;
  const frameHeight = TOP + Math.ceil(groupSize / columns) * (size + CAPTION) + PAD;
  const frames = Array.from({ length: model.n_kv_heads }, (_, kv) => ({
    kv,
    first: kv * groupSize,
    last: (kv + 1) * groupSize - 1,
    width: frameWidth,
    height: frameHeight,
    x: (kv % across) * (frameWidth + GAP),
    y: Math.floor(kv / across) * (frameHeight + GAP),
  }));
  const boxes = Array.from({ length: model.n_heads }, (_, head) => {
    const { x, y, first } = frames[Math.floor(head / groupSize)];
    const [column, line] = [(head - first) % columns, Math.floor((head - first) / columns)];
    return { head, x: x + PAD + column * (size + GAP), y: y + TOP + line * (size + CAPTION) + CAPTION - 4 };
  });
  const foot = Math.ceil(model.n_kv_heads / across) * (frameHeight + GAP);
  const narrow = width < NARROW;
  return { boxes, frames, size, legend: foot + 14, narrow, height: foot + (narrow ? 74 : 52) };
}
