// A drawing is drawn anew exactly when something that it read has changed.

import assert from "node:assert/strict";
import test from "node:test";

import { computed, memo, reactive, Reads, RecordedMap, unfinished, watchFields } from "../../visuals/static/reads.js";

/** A drawing that says how often it drew. */
function counted(draw) {
  const reads = new Reads();
  let count = 0;
  const counting = (fresh) => {
    count += 1;
    return draw(fresh);
  };
  return (fresh = false) => {
    const before = count;
    reads.redraw(counting, fresh)?.();
    return count > before;
  };
}

test("a drawing follows what it read, and nothing else", () => {
  const state = reactive({ layer: 1, head: 2 });
  const drew = counted(() => void state.layer);
  assert.equal(drew(), true, "for the first time");
  assert.equal(drew(), false);
  state.head = 5;
  assert.equal(drew(), false, "it never read the head");
  state.layer = 3;
  assert.equal(drew(), true);
  assert.equal(drew(), false);
  assert.equal(drew(true), true, "asked to");
});

test("a branch that reads something else is followed from then on, and the one that was left is not", () => {
  const state = reactive({ open: false, query: 0, key: 0 });
  const drew = counted(() => void (state.open ? state.key : state.query));
  drew();
  state.key = 1;
  assert.equal(drew(), false);
  state.open = true;
  assert.equal(drew(), true);
  state.query = 1;
  assert.equal(drew(), false);
  state.key = 2;
  assert.equal(drew(), true);
});

test("what comes later is noted as missing: entries of a map, fields of an object, values that are worked out", () => {
  const layers = new RecordedMap([[0, "zero"]]);
  const held = watchFields({ T: 7, steps: [] }, "steps");
  const wide = computed(() => Math.floor(held.steps.length / 2));
  const cases = [
    [() => layers.get(1), () => layers.set(2, "two"), () => layers.set(1, "one")],
    [() => layers.has(3), () => layers.set(4, "four"), () => layers.set(3, "three")],
    [() => layers.size, () => layers.set(3, "another"), () => layers.set(9, "nine")],
    [() => [...layers.keys()], () => layers.set(3, "three"), () => layers.set(10, "ten")],
    [
      () => held.steps,
      () => {
        held.T = 8;
      },
      () => {
        held.steps = ["a"];
      },
    ],
    [
      wide,
      () => {
        held.steps = ["b"];
      },
      () => {
        held.steps = ["a", "b"];
      },
    ],
  ];
  for (const [draw, other, own] of cases) {
    const drew = counted(() => void draw());
    drew();
    other();
    assert.equal(drew(), false, `${draw}: ${other}`);
    own();
    assert.equal(drew(), true, `${draw}: ${own}`);
  }
  assert.deepEqual({ ...held }, { T: 8, steps: ["a", "b"] });
});

test("what is read when all panels have drawn counts, too", () => {
  const state = reactive({ layer: 0, head: 0 });
  const drew = counted(() => {
    void state.layer;
    return () => void state.head;
  });
  drew();
  state.head = 1;
  assert.equal(drew(), true);
  state.layer = 1;
  assert.equal(drew(), true);
  assert.equal(drew(), false);
});

test("a part is drawn anew alone, and the whole with it", () => {
  const state = reactive({ theme: "light", query: 0 });
  const drawn = [];
  const ground = memo((width) => drawn.push(`ground ${width} ${state.theme}`));
  const drew = counted(() => {
    ground(100);
    drawn.push(`query ${state.query}`);
  });
  drew();
  state.query = 1;
  assert.equal(drew(), true);
  assert.deepEqual(drawn, ["ground 100 light", "query 0", "query 1"]);
  state.theme = "dark"; // which the whole reads through its part alone, and did not read this time
  assert.equal(drew(), true);
  assert.deepEqual(drawn.slice(3), ["ground 100 dark", "query 1"]);
  assert.equal(drew(), false);
});

test("an argument of a part is followed", () => {
  const drawn = [];
  const ground = memo((...given) => drawn.push(given));
  for (const given of [[1], [1], [1, 2], [NaN], [NaN]]) ground(...given);
  assert.deepEqual(drawn, [[1], [1, 2], [NaN]]);
});

test("what is not finished, or broke off, is drawn again", () => {
  let left = 2;
  const drew = counted(() =>
    memo(() => {
      if (left-- > 0) unfinished();
    })(),
  );
  assert.deepEqual([drew(), drew(), drew(), drew()], [true, true, true, false]);
  const reads = new Reads();
  const broken = () => {
    throw new Error("no canvas");
  };
  for (let i = 0; i < 2; i++) assert.throws(() => reads.redraw(broken, false), /no canvas/);
});

test("what is not finished goes on, though its words are written when all panels have drawn", () => {
  let left = 2;
  const drew = counted(() => {
    if (left-- > 0) unfinished();
    return () => {};
  });
  assert.deepEqual([drew(), drew(), drew(), drew()], [true, true, true, false]);
});

test("a drawing that changes what it read is drawn once more", () => {
  const view = reactive({ zoom: 9 });
  const drew = counted(() => {
    view.zoom = Math.min(view.zoom, 4);
  });
  assert.deepEqual([drew(), drew(), drew()], [true, true, false]);
});

test("whoever wants to know is told of a field that is set to something else", () => {
  let told = 0;
  const view = reactive({ hovered: null, zoom: NaN }, () => {
    told += 1;
  });
  for (const hovered of [null, 3, 3, null]) view.hovered = hovered;
  view.zoom = NaN;
  assert.deepEqual([told, view.hovered], [2, null]);
});
