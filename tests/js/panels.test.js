// What the panels decide before they draw: layout of the head maps, numbers as text, CSV.
import assert from "node:assert/strict";
import { test } from "node:test";
import { without } from "../../visuals/static/marks/depth.js";
import { namedRows, placedNames } from "../../visuals/static/marks/depth-names.js";
import { brief, exact, share, shown, signed } from "../../visuals/static/dom.js";
import { centred, inkOn, visible } from "../../visuals/static/draw.js";
import { csvText } from "../../visuals/static/file.js";
import { layoutGroup, layoutMaps } from "../../visuals/static/panels/attend/attention-maps.js";
import { ceilingOf } from "../../visuals/static/panels/attend/attention-row.js";
import { rankTicks } from "../../visuals/static/panels/choice/chart.js";
import { reachOf } from "../../visuals/static/panels/ffn/swiglu-curve.js";

test("head maps and their words lie inside the width and the frame of their K/V head, without overlap", () => {
  for (const [n_heads, n_kv_heads] of [
    [8, 2],
    [9, 3],
    [32, 8],
    [4, 4],
    [12, 1],
    [1, 1],
  ]) {
    for (const width of [296, 344, 568, 1184, 1400]) {
      const { boxes, frames, size, height, above } = layoutMaps(width, { n_heads, n_kv_heads });
      const beside = above ? 72 : 0; // px for the words at rows
      assert.ok(above === 0 || above === 66); // and at columns
      assert.equal(boxes.length, n_heads);
      assert.equal(frames.length, n_kv_heads);
      for (const { head, x, y, leads } of boxes) {
        const frame = frames[Math.floor(head / (n_heads / n_kv_heads))];
        const [left, top] = [x - (leads ? beside : 0), y - above];
        assert.ok(head >= frame.first && head <= frame.last);
        assert.ok(
          left >= frame.x && x + size <= frame.x + frame.width && top >= frame.y && y + size <= frame.y + frame.height,
        );
        assert.ok(x + size <= width && y + size <= height, `${n_heads}/${n_kv_heads} at ${width}`);
        for (const other of boxes) {
          const over = other.y > y ? other.y - above - y : y - above - other.y;
          const apart = Math.abs(other.x - x) >= size || over >= size;
          assert.ok(other.head === head || apart);
        }
      }
    }
  }
});

test("head maps have words wherever one of them is large enough, and rows have theirs once in a line", () => {
  for (const [width, worded] of [
    [296, true],
    [344, true],
    [1184, true],
    [140, false],
  ])
    assert.equal(layoutMaps(width, { n_heads: 8, n_kv_heads: 2 }).above > 0, worded, width);
  const { boxes } = layoutMaps(1184, { n_heads: 8, n_kv_heads: 2 });
  assert.deepEqual(
    boxes.filter(({ leads }) => leads).map(({ head }) => head),
    [0, 4],
  );
});

test("numbers: at least five digits for the machine, a real minus and powers of ten for the reader", () => {
  assert.equal(exact(0.1), "0.10000");
  assert.equal(exact(-0), "0.0000");
  assert.equal(Number(exact(-1.23456789e-9)), -1.2346e-9);
  assert.equal(shown(-0.5538), "−0.5538");
  assert.equal(shown(2.4842e-8, 5), "2.4842×10⁻⁸");
  assert.equal(signed(3, 3), "+3.00");
  assert.equal(share(0.03125), "0.0313");
  assert.equal(share(0.0001654), "0.000165");
  assert.equal(share(0.00001654), "1.65×10⁻⁵"); // nobody counts so many zeros
  assert.equal(shown(0.00001, 1), "0.00001"); // as a config has it
  assert.equal(share(0.99995), "0.99995"); // which is not 1
  assert.equal(share(1), "1.0000");
  assert.equal(shown(NaN), "–");
  assert.equal(exact(NaN), "-");
});

test("blanks and control characters of a token can be seen", () =>
  assert.equal(visible(" a\n\t\u0000\u001b\u007f"), "·a⏎⇥␀␛␡"));

test("black or white text always reads on the scale's colour", () => {
  const table = Uint8Array.from({ length: 256 * 3 }, (_, i) => Math.floor(i / 3));
  for (let i = 0; i < 256; i++) {
    const level = i / 255;
    const light = level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4;
    const contrast = inkOn(table, level) === "#000000" ? (light + 0.05) / 0.05 : 1.05 / (light + 0.05);
    assert.ok(contrast >= 4.5, `${i}: ${contrast}`);
  }
});

test("signed values: zero in the middle, also where all are zero", () => {
  assert.deepEqual(
    [-2, 0, 2].map((value) => centred(value, 2)),
    [0, 0.5, 1],
  );
  assert.equal(centred(0, 0), 0.5);
});

test("CSV: quotes doubled, and no token can become a spreadsheet formula", () => {
  assert.equal(
    csvText([
      ["a", 1.5],
      ['say "x", y', -2],
    ]),
    'a,1.5\r\n"say ""x"", y",-2\r\n',
  );
  assert.equal(csvText([["a;=1+1", "b\t=1", 2]]), '"a;=1+1","b\t=1",2\r\n');
  assert.equal(csvText([["=1+1"], ["-2"], ["\n"]]), '"\'=1+1"\r\n"\'-2"\r\n"\n"\r\n');
});

test("axes: the next round number above the values", () => {
  assert.deepEqual(
    [[0.05], [0.1, 0.11], [0.4], [0.6]].map((w) => ceilingOf(w)),
    [0.1, 0.2, 0.5, 1],
  );
  assert.deepEqual(
    [[1], [-5], [8.5]].map((g) => reachOf(g)),
    [4, 6, 10],
  );
});

test("ranks on an axis: powers of ten, and the last rank there is", () => {
  assert.deepEqual(rankTicks(4096), [1, 10, 100, 1000, 4096]);
  assert.deepEqual(rankTicks(128256), [1, 10, 100, 1000, 10000, 128256]);
  assert.deepEqual(rankTicks(1000), [1, 10, 100, 1000]);
});

test("the names of a depth map are whole and apart at any depth, and the highest that is named is kept", () => {
  for (let rows = 2; rows <= 130; rows++) {
    const cell = Math.max(6, Math.min(16, Math.floor(320 / rows)));
    const named = namedRows(rows, cell).map((row) => [row, row + 0.5]);
    const placed = placedNames(named, rows, cell);
    placed.forEach(([, y], i) => assert.ok(y >= 9 && (i === 0 || placed[i - 1][1] - y >= 14), `${rows}: ${placed}`));
    assert.equal(placed.at(-1)[0], named.at(-1)[0]);
    assert.deepEqual(placedNames(named.toReversed(), rows, cell), placed);
  }
});

test("rows of a depth map: all are named where 14 px are free, else row 0 and the attention of some layers", () => {
  assert.deepEqual(namedRows(5, 16, 1), [0, 1, 2, 3, 4]);
  assert.deepEqual(namedRows(8, 13), [0, 2, 4, 6]);
  assert.deepEqual(namedRows(9, 13, 1), [0, 3, 5, 7]); // row 1 would touch row 0's name
  assert.deepEqual(namedRows(13, 6, 1), [0, 5, 9]);
  for (const [rows, cell, first] of [
    [64, 6, 0],
    [65, 6, 1],
    [48, 7, 0],
    [25, 12, 1],
  ]) {
    const named = namedRows(rows, cell, first);
    named.slice(1).forEach((row, i) => assert.ok((row - named[i]) * cell >= 12 && (row - first) % 2 === 0));
  }
});

test("a scale leaves out the columns that stand apart, and nothing else", () => {
  const values = Float64Array.of(1, -90, 3, 4, 50, -6); // two rows of three tokens
  assert.deepEqual([...without(values, 3, [1])], [1, 3, 4, -6]);
  assert.equal(without(values, 3, []), values);
});

test("what is read has three significant digits, and what is just below 1 is not 1", () => {
  const cases = {
    "−14.495": "−14.5",
    "+2.203": "+2.20",
    107.019: "107",
    "1.0000": "1.00",
    0.9976: "0.998",
    0.99996: "0.99996",
    0.0005623: "0.000562",
    "0.00000012345": "0.00000012345",
    "3.533×10⁴": "3.53×10⁴",
    "11,008 of 0.5": "11,008 of 0.5",
  };
  for (const [written, read] of Object.entries(cases)) assert.equal(brief(written), read);
});

test("three digits are rounded once, from the number itself", () => {
  // Each with the digits that it is written with first: 0.7725 of the first would be read as 0.772.
  assert.equal(brief(share(0.77254)), "0.773");
  assert.equal(brief(share(0.77246)), "0.772");
  assert.equal(share(0.77261), "0.7726");
  assert.equal(brief(share(0.8125)), "0.813"); // a tie of its own: the larger
  assert.equal(share(0.8125), "0.8125");
  for (const digits of [4, 5, 6]) {
    assert.equal(brief(shown(12.349999, digits)), "12.3");
    assert.equal(brief(shown(12.350001, digits)), "12.4");
    assert.equal(brief(shown(-123.49999, digits)), "−123");
    assert.equal(brief(shown(1.2349999e-7, digits)), "1.23×10⁻⁷");
    assert.equal(brief(shown(1.2350001e-7, digits)), "1.24×10⁻⁷");
  }
  assert.equal(shown(12.3456), "12.346"); // longer, since 12.35 would be a tie
  for (let i = 1; i < 20_000; i++) {
    const x = ((i * 7919) % 20_011) / 22_500 + 0.1; // below it four decimals are three digits already
    assert.equal(brief(share(x)), x < 0.9995 ? x.toPrecision(3) : share(x), String(x));
  }
});

test("in a lesson the heads of one K/V head fit its stage, larger than all heads would, with a word under each", () => {
  const model = { n_heads: 8, n_kv_heads: 2 };
  for (const [width, room, columns] of [
    [794, 238, 4],
    [794, 320, 4],
    [540, 500, 2],
    [374, 500, 2],
  ]) {
    const { boxes, frames, size, height } = layoutGroup(width, model, { kv: 1, room, word: 40 });
    assert.deepEqual(
      boxes.map(({ head }) => head),
      [4, 5, 6, 7],
    );
    assert.deepEqual(
      boxes.filter(({ leads }) => leads).map(({ head }) => head),
      columns === 4 ? [4] : [4, 6],
    );
    assert.deepEqual([frames.length, frames[0].first, frames[0].last], [1, 4, 7]);
    assert.ok(size > layoutMaps(width, model, room, 40).size && height <= room, `${size} ${height}`);
    const worded = layoutGroup(width, model, { kv: 1, room: 900, word: 40, above: 40 });
    assert.ok(worded.height <= 900 && worded.boxes[0].y === boxes[0].y + 40); // words stand above the columns
    if (width > 480) {
      const beside = layoutGroup(width, model, { kv: 1, room, word: 40, above: 40, aside: true });
      assert.ok(beside.height <= room && beside.legend === beside.boxes[0].y); // the legend beside the maps
      assert.ok(beside.aside > beside.frames[0].width && beside.aside + 190 <= width);
    }
    for (const { x, y } of boxes) {
      const { width: wide, height: high } = frames[0];
      assert.ok(x + size <= wide && y + size + 28 <= high && wide <= width);
    }
  }
});
