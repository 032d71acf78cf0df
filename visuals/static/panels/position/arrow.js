// A vector of two numbers as an arrow from the centre of a dial.

const HEAD = 2.6; // radians between an arrow and the sides of its head

/**
 * The first value to the right, the second up; both are shares of the radius.
 *
 * @param {CanvasRenderingContext2D} context in the arrow's colour
 * @param {{ x: number; y: number; radius: number }} dial
 * @param {ArrayLike<number>} to
 * @param {{ solid: boolean; faint: number; dash: number; long: number; wide?: number }} how `faint`: opacity where
 *   it is not solid; `long`: of its head, at most; `wide`: its line
 * @returns {[number, number]} where it points
 */
export function drawArrow(
  context,
  { x, y, radius },
  { 0: a, 1: b },
  { solid, faint, dash, long, wide = solid ? 3 : 2 },
) {
  const [toX, toY] = [x + a * radius, y - b * radius];
  context.globalAlpha = solid ? 1 : faint;
  context.lineWidth = wide;
  context.setLineDash(solid ? [] : [dash, dash]);
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(toX, toY);
  context.stroke();
  context.setLineDash([]);
  const head = Math.min(long, Math.hypot(a, b) * radius);
  const turn = Math.atan2(toY - y, toX - x);
  context.beginPath();
  context.moveTo(toX, toY);
  for (const side of [HEAD, -HEAD])
    context.lineTo(toX + head * Math.cos(turn + side), toY + head * Math.sin(turn + side));
  context.fill();
  context.globalAlpha = 1;
  return [toX, toY];
}
