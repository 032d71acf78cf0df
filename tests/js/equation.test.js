// Equations are worked out again from the texts alone.

import assert from "node:assert/strict";
import test from "node:test";
import { added, bracketed, decimalsIn, printedNumber, withSign, writtenOut } from "../../visuals/static/equation.js";
import { few, fewOut } from "../../visuals/static/story/words.js";

/** Half a unit of the last digit of a plain decimal. @param {string} text */
const half = (text) => 0.5 * 10 ** -(text.split(".")[1]?.length ?? 0);

test("what is printed is read back: minus, powers of ten, thousands, per cent", () => {
  assert.equal(printedNumber("−3.25"), -3.25);
  assert.equal(printedNumber("3.1256×10⁻⁵"), 3.1256e-5);
  assert.equal(printedNumber("11,008"), 11008);
  assert.ok(Math.abs(printedNumber("99.765%") - 0.99765) < 1e-12);
  assert.ok(Number.isNaN(printedNumber("–")));
});

test("whoever works with the printed operands gets the printed result", () => {
  for (let seed = 1; seed < 500; seed++) {
    const [a, b] = [40 * Math.sin(seed * 7.3), 3 * Math.cos(seed * 1.7)];
    for (const [value, by] of [
      [a * b, (x, y) => x * y],
      [a / b, (x, y) => x / y],
      [a - b, (x, y) => x - y],
      [Math.exp(b - a / 40), (x, y) => Math.exp(y - x / 40)],
    ]) {
      if (Math.abs(value) >= 1000) continue; // then its last digit is no unit
      const said = writtenOut({ a, b, value }, [["value", ["a", "b"], by]], { digits: 3, write: few });
      const worked = by(...[said.a, said.b].map((text) => Number(text.replace("−", "-"))));
      const printed = Number(said.value.replace("−", "-"));
      assert.ok(Math.abs(worked - printed) <= half(said.value) * (1 + 1e-6), `${said.a} ${said.b} ${said.value}`);
      assert.equal(said.value.replace("−", "-"), few(value).replace("−", "-")); // no digit of the result was needed
    }
  }
});

test("scores whose difference is small have the digits that give it", () => {
  const said = writtenOut({ a: 12.7642, b: 11.6341, gap: 1.1301 }, [["gap", ["a", "b"], (x, y) => x - y]], {
    digits: 3,
  });
  assert.deepEqual(said, { a: "12.76", b: "11.63", gap: "1.13" });
});

test("a quantity of several equations is printed once for all of them", () => {
  const said = writtenOut({ dot: 107.0168, score: 107.0168 / Math.sqrt(32), total: 1.0007, weight: 0.5 }, [
    ["score", ["dot"], (x) => x / Math.sqrt(32)],
  ]);
  assert.equal(said.score, "18.918");
  assert.equal((printedNumber(said.dot) / Math.sqrt(32)).toFixed(3), said.score);
});

test("where more digits of the operands do not help, the result has fewer", () => {
  const rounded = writtenOut({ a: 3, value: 6.02 }, [["value", ["a"], (x) => 2 * x]]);
  assert.deepEqual(rounded, { a: "3.0000", value: "6.0" }); // and its operand no more digits than that takes
  const most = writtenOut({ a: 16.6, b: 4.1, times: 4.0444 }, [["times", ["a", "b"], (x, y) => x / y]], {
    digits: 3,
    most: 3,
  });
  assert.equal(most.times, "4.0");
});

test("numbers of a list have the same decimals, and the equations come out with them", () => {
  for (let seed = 1; seed < 300; seed++) {
    const [x, y, angle] = [9 * Math.sin(seed * 7.3), 0.4 * Math.cos(seed * 1.7), seed / 30];
    const turned = [x * Math.cos(angle) - y * Math.sin(angle), x * Math.sin(angle) + y * Math.cos(angle)];
    const said = writtenOut(
      { x, y, angle, X: turned[0], Y: turned[1] },
      [
        ["X", ["x", "y", "angle"], (a, b, by) => a * Math.cos(by) - b * Math.sin(by)],
        ["Y", ["x", "y", "angle"], (a, b, by) => a * Math.sin(by) + b * Math.cos(by)],
      ],
      {
        digits: 3,
        lists: [
          ["x", "y"],
          ["X", "Y"],
        ],
      },
    );
    assert.equal(decimalsIn(said.x), decimalsIn(said.y));
    assert.equal(decimalsIn(said.X), decimalsIn(said.Y));
    const [a, b, by] = [said.x, said.y, said.angle].map((text) => Number(text.replace("−", "-")));
    const worked = [a * Math.cos(by) - b * Math.sin(by), a * Math.sin(by) + b * Math.cos(by)];
    for (const [i, text] of [said.X, said.Y].entries()) {
      const printed = Number(text.replace("−", "-"));
      assert.ok(Math.abs(worked[i] - printed) <= half(text) * (1 + 1e-6), JSON.stringify(said));
      assert.ok(Math.abs(turned[i] - printed) <= 2 * half(text), JSON.stringify(said));
    }
  }
});

test("a list is no further written out than what of it is known, and one with a power of ten is for itself", () => {
  const said = writtenOut({ a: 0.0123, b: 20.5, c: NaN, d: 3e-6 }, [], { digits: 3, lists: [["a", "b", "c", "d"]] });
  assert.deepEqual(said, { a: "0.0123", b: "20.5000", c: "–", d: "3.00×10⁻⁶" });
  const one = writtenOut({ a: 3, b: 1.25, value: 6.02 }, [["value", ["a"], (x) => 2 * x]], { lists: [["b", "value"]] });
  assert.equal(decimalsIn(one.b), decimalsIn(one.value));
  assert.equal(one.value, "6.0");
});

test("what is not known is in no equation", () => {
  const said = writtenOut({ a: 1.23456, b: NaN, value: 7 }, [["value", ["a", "b"], (x, y) => x * y]]);
  assert.deepEqual(said, { a: "1.2346", b: "–", value: "7.0000" });
});

test("signs as they stand before, between and around", () => {
  assert.deepEqual(["2.0", "−2.0"].map(bracketed), ["2.0", "(−2.0)"]);
  assert.deepEqual(["2.0", "−2.0"].map(added), ["+ 2.0", "− 2.0"]);
  assert.deepEqual(["2.0", "−2.0", "0.0"].map(withSign), ["+2.0", "−2.0", "0.0"]);
  assert.deepEqual(["2.050", "7", "1.2×10⁻⁵"].map(decimalsIn), [3, 0, NaN]);
});

test("a scene's equation comes out as it is read: three digits, or a result of two where three do not come out", () => {
  const root = Math.sqrt(32);
  const by = (x) => x / root;
  const score = (product) => fewOut({ product, score: by(product) }, [["score", ["product"], by]]);
  assert.deepEqual(score(82.6), { product: "82.6", score: "14.6" });
  assert.deepEqual(score(61.37), { product: "61.4", score: "11" }); // 61.4 / √32 is 10.9, the score itself 10.8
  assert.deepEqual(score(-61.37), { product: "−61.4", score: "−11" });
  const times = [["product", ["open", "up"], (a, b) => a * b]];
  const thirty = fewOut({ open: 13.071, up: -2.3289, product: 13.071 * -2.3289 }, times);
  assert.deepEqual(thirty, { open: "13.07", up: "−2.329", product: "−30.4" }); // 13.1 · 2.33 is 30.5, and not 30
  const raised = [];
  for (let i = 1; i < 2000; i++) {
    const product = Math.fround(100 * Math.sin(i * 7.13));
    const said = score(product);
    const worked = by(printedNumber(said.product));
    assert.ok(Math.abs(worked - printedNumber(said.score)) <= half(said.score) * (1 + 1e-9), said.product);
    assert.ok(said.score !== few(by(product), 1) || few(worked, 2) === few(by(product), 2), said.product);
    if (said.product !== few(product)) raised.push(said.product);
  }
  assert.ok(raised.length < 100, raised.length); // more digits only where the result would have one alone
});

test("where a run has rounded so much that no digits help, the result has as many as come out", () => {
  const square = [["square", ["x"], (x) => x * x]];
  assert.deepEqual(fewOut({ x: 1.5, square: 2.25 }, square), { x: "1.50", square: "2.25" });
  assert.deepEqual(fewOut({ x: 1.5, square: 2.27 }, square), { x: "1.50", square: "2.3" });
});
