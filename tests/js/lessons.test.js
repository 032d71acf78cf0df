// Lessons: what a file may hold, the way through a link and the browser's storage, presenting, and pages of a panel.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { createCourse } from "../../visuals/static/lessons/course.js";
import { actOf } from "../../visuals/static/lessons/keys.js";
import {
  asks,
  changed,
  checkLesson,
  FORMAT,
  linkOf,
  linkOn,
  MOST,
  moved,
  newLesson,
  partsOfNote,
  readLesson,
  Refused,
  withView,
  without,
  writeLesson,
  tasksOf,
} from "../../visuals/static/lessons/lesson.js";
import { packLesson, unpackLesson } from "../../visuals/static/lessons/pack.js";
import { led, pagesOf } from "../../visuals/static/lessons/pages.js";
import { inPlan, minutesOf, plansOf } from "../../visuals/static/lessons/plans.js";
import { pointsOf } from "../../visuals/static/lessons/points.js";
import { pagesOfBoxes } from "../../visuals/static/lessons/sheet.js";
import { createShelf } from "../../visuals/static/lessons/shelf.js";
import { finenessOf, sizesFor } from "../../visuals/static/lessons/sizes.js";

const folder = new URL("../../app/", import.meta.url);
const texts = Object.fromEntries(
  ["en", "zh"].map((code) => [code, JSON.parse(readFileSync(new URL(`${code}.json`, folder)))]),
);
const known = { panels: Object.keys(texts.en.panel), languages: Object.keys(texts) };
const view = {
  link: "#chapter=attend&layer=1&prompt=a+%E7%8C%AB",
  panel: "cell",
  part: ".at-map",
  note: "Look 看 🦙\n<b>",
  hidden: true,
};
const lesson = {
  format: FORMAT,
  version: 1,
  language: "zh",
  title: "课 <img src=x>",
  views: [view, { ...view, note: "", part: "", hidden: false }],
};

test("a lesson comes back from a file and from a link as it was", async () => {
  assert.deepEqual(readLesson(writeLesson(lesson), known), lesson);
  assert.deepEqual(readLesson(`\ufeff${writeLesson(lesson)}`, known), lesson);
  const hash = await packLesson(lesson);
  assert.match(hash, /^#lang=zh&lesson=[\w-]+$/);
  assert.deepEqual(await unpackLesson(hash, known), lesson);
  const longest = {
    ...lesson,
    views: Array.from({ length: MOST.views }, (_, i) => ({ ...view, note: `${i} ${"字".repeat(MOST.note - 4)}` })),
  };
  assert.deepEqual(await unpackLesson(await packLesson(longest), known), longest);
});

test("a note of several lines is points, each with its first words apart; one of a single line is that line", () => {
  assert.deepEqual(pointsOf("Look here."), [{ lead: "", rest: "Look here." }]);
  const note =
    "Ask the class: who looks?\nEverybody reads the text aloud together, twice.\n请大家一起念：一二。\n这里是这次运行的缓存在四种情形下各自的大小：一二。";
  const points = pointsOf(note);
  assert.deepEqual(
    points.map(({ lead }) => lead),
    ["Ask the class:", "Everybody reads the text", "请大家一起念：", ""],
  );
  assert.equal(points.map(({ lead, rest }) => lead + rest).join("\n"), note);
});

test("what a worksheet asks for afterwards is kept with a lesson and is asked last, in each plan, too", async () => {
  const later = { ...view, question: "Where does it look?" };
  const longer = { ...lesson, views: [{ ...view, question: "Which?", minutes: [2] }, view], after: [later] };
  assert.deepEqual(await unpackLesson(await packLesson(longer), known), longer);
  const asked = (one) => tasksOf(one).map(({ question }) => question);
  assert.deepEqual(asked(longer), ["Which?", "Where does it look?"]);
  assert.deepEqual(asked(inPlan(longer, 0)), ["Which?", "Where does it look?"]);
});

test("a lesson names the model that reads its views, which a view's own link may name instead", async () => {
  const named = { ...lesson, model: "Glass Llama (bundled)" };
  assert.deepEqual(readLesson(writeLesson(named), known), named);
  assert.deepEqual(await unpackLesson(await packLesson(named), known), named);
  const offered = ["Glass Llama (bundled)", "SmolLM2"];
  const modelOf = (link) => new URLSearchParams(link.slice(1)).get("model");
  assert.equal(modelOf(linkOn(named, view, offered)), "Glass Llama (bundled)");
  assert.equal(linkOn(named, view, ["SmolLM2"]), view.link);
  assert.equal(linkOn(lesson, view, offered), view.link);
  const written = { ...view, link: "#prompt=a&more=7.8" }; // tokens by the numbers of the lesson's model
  assert.equal(linkOn(named, written, ["SmolLM2"]), "#prompt=a");
  assert.match(linkOn(named, written, offered), /more=7\.8/);
  assert.equal(modelOf(linkOn(named, { ...view, link: "#model=SmolLM2&prompt=a" }, offered)), "SmolLM2");
  assert.throws(() => checkLesson({ ...lesson, model: 3 }, known), Refused);
});

/** Lessons with one thing wrong, and the field that a refusal must name. */
const wrong = (change) => ({ ...lesson, ...change });
const inView = (change) => wrong({ views: [view, { ...view, ...change }] });
const { note: _, ...noNote } = view;
const BAD = [
  ["format", null],
  ["format", []],
  ["format", 7],
  ["format", {}],
  ["format", wrong({ format: "other" })],
  ["version", wrong({ version: 2 })],
  ["version", wrong({ version: "1" })],
  ["language", wrong({ language: "fr" })],
  ["language", wrong({ language: "constructor" })],
  ["title", wrong({ title: "" })],
  ["title", wrong({ title: "  " })],
  ["title", wrong({ title: 5 })],
  ["title", wrong({ title: "x".repeat(MOST.title + 1) })],
  ["title", wrong({ title: "\ud800" })],
  ["extra", wrong({ extra: 1 })],
  ["views", wrong({ views: {} })],
  ["views", wrong({ views: Array(MOST.views + 1).fill(view) })],
  ["views[0]", wrong({ views: ["#prompt=a"] })],
  ["views[1].note", wrong({ views: [view, noNote] })],
  ["views[1].more", inView({ more: "" })],
  ["views[1].link", inView({ link: "" })],
  ["views[1].link", inView({ link: "javascript:alert(1)" })],
  ["views[1].link", inView({ link: "#a b" })],
  ["views[1].link", inView({ link: `#${"x".repeat(MOST.link)}` })],
  ["views[1].link", inView({ link: null })],
  ["views[1].link: layer", inView({ link: "#layer=two" })],
  ["views[1].link: more", inView({ link: "#prompt=a&more=1.x" })],
  ["views[1].panel", inView({ panel: "tokens2" })],
  ["views[1].panel", inView({ panel: "__proto__" })],
  ["views[1].part", inView({ part: "body *" })],
  ["views[1].part", inView({ part: 1 })],
  ["views[1].note", inView({ note: "x".repeat(MOST.note + 1) })],
  ["views[1].hidden", inView({ hidden: "yes" })],
  ["views[1].headline", inView({ headline: "x".repeat(MOST.headline + 1) })],
  ["views[1].question", inView({ question: 3 })],
  ["views[1].answer", inView({ answer: null })],
  ["after", wrong({ after: {} })],
  ["after[0].panel", wrong({ after: [{ ...view, panel: "tokens2" }] })],
  ["views[1].minutes", inView({ minutes: 5 })],
  ["views[1].minutes", inView({ minutes: [1, -1] })],
  ["views[1].minutes", inView({ minutes: [1, "2"] })],
  ["views[1].minutes", inView({ minutes: Array(MOST.plans + 1).fill(1) })],
];

test("of a bad lesson the field is named, what it holds, and what would be right, in both languages", () => {
  for (const [field, value] of BAD) {
    assert.throws(
      () => checkLesson(value, known),
      (error) => {
        assert.ok(error instanceof Refused, String(error));
        assert.deepEqual([error.code, error.params.field], ["field", field], JSON.stringify(value)?.slice(0, 80));
        assert.ok(error.params.value.length <= 41);
        for (const table of Object.values(texts))
          assert.ok(table.lessons[`expected_${error.params.expected}`], error.params.expected);
        return true;
      },
    );
  }
  assert.throws(() => readLesson("{", known), { code: "json" });
  assert.throws(() => readLesson(" ".repeat(MOST.bytes + 1), known), { code: "size" });
});

test("a link that was cut or changed, or would fill the memory, is refused", async () => {
  const hash = await packLesson(lesson);
  for (const bad of [
    hash.slice(0, -9),
    `${hash.slice(0, 40)}%%%`,
    "#lesson=",
    "#lesson=AAAA",
    hash.replace("lesson=", "lesson=x"),
  ]) {
    await assert.rejects(unpackLesson(bad, known), { code: "link" }, bad);
  }
  await assert.rejects(unpackLesson(await packLesson({ ...lesson, title: "x".repeat(5 * MOST.bytes) }), known), {
    code: "size",
  });
  await assert.rejects(unpackLesson(await packLesson({ ...lesson, version: 9 }), known), { code: "field" });
});

test("a view may have a headline, a question with its answer, and minutes for each plan", () => {
  const said = { headline: "H", question: "Why 为什么？", answer: "So.", minutes: [1, 0, 2.5] };
  const full = { ...lesson, views: [{ ...view, ...said }, view] };
  assert.deepEqual(readLesson(writeLesson(full), known), full);
  assert.deepEqual(
    plansOf(full).map(({ at, minutes, views }) => [at, minutes, views]),
    [
      [0, 1, 1],
      [2, 2.5, 1],
    ],
  );
  assert.deepEqual(minutesOf(full), [2.5, 0]);
  assert.deepEqual(inPlan(full, 2).views, [{ ...view, ...said, minutes: [2.5] }]);
  assert.deepEqual(plansOf(lesson), []);
});

const SIZE = /\b[12] [KG]iB\b/g; // a unit, or what the calculator is set to: of no run

test("every view that comes with the page has a headline, a question and an answer, each lesson three plans", () => {
  for (const file of readdirSync(new URL("lessons/", folder))) {
    const shipped = readLesson(readFileSync(new URL(`lessons/${file}`, folder), "utf8"), known);
    for (const { headline, question, answer } of shipped.views) {
      assert.match(headline, /^\P{P}.*[^.。?？]$/u, file);
      assert.match(question, /[?？]$/, file);
      assert.ok(answer.length > 10, file);
      assert.doesNotMatch(`${headline}${question}${answer}`.replaceAll(SIZE, ""), /\d/, file); // which the page shows
    }
    assert.equal(new Set(shipped.views.map(({ headline }) => headline)).size, shipped.views.length);
    assert.deepEqual(
      plansOf(shipped).map(({ minutes }) => minutes),
      [5, 15, 45],
      file,
    );
    assert.equal(plansOf(shipped)[2].views, shipped.views.length);
  }
});

test("every lesson that comes with the page is one, in both languages, each view with a note without a number", () => {
  const files = readdirSync(new URL("lessons/", folder));
  const names = files.map((file) => file.split(".").slice(0, 2));
  for (const name of ["lesson-attention", "lesson-positions", "lesson-cache"])
    for (const code of known.languages)
      assert.ok(
        names.some((one) => one.join() === `${name},${code}`),
        `${name} ${code}`,
      );
  for (const file of files) {
    const { language, views } = readLesson(readFileSync(new URL(`lessons/${file}`, folder), "utf8"), known);
    assert.equal(file.split(".")[1], language);
    assert.ok(views.length >= 5 && views.length <= 7, file);
    for (const one of views) {
      const { note, link } = one;
      const { before, after } = partsOfNote(one);
      assert.ok(before.length > 20 && after.length > 20, `${file}: ${note}`);
      assert.doesNotMatch(note.replaceAll(SIZE, ""), /\d/, file); // the page shows the numbers, which are the weights'
      assert.doesNotMatch(link, /[#&](layer|head|neuron|model)=/, file); // the run says which matter
    }
  }
});

const SPOKEN = {
  en: {
    timed: /\bminutes?\b/,
    wrong: /^Expect /m,
    asked: /^They may ask: [^?]+\? \S+/gm,
    last: /\nEnd with this sentence: .+$/,
  },
  zh: {
    timed: /分钟/,
    wrong: /^可能的错误答案：/m,
    asked: /^可能会问：[^？]+？\S+/gm,
    last: /\n最后用一句话收尾：.+$/,
  },
};

test("a note has work of some minutes, a wrong answer to expect and questions answered; the last ends", () => {
  for (const file of readdirSync(new URL("lessons/", folder))) {
    const { language, views } = readLesson(readFileSync(new URL(`lessons/${file}`, folder), "utf8"), known);
    const { timed, wrong, asked, last } = SPOKEN[language];
    for (const one of views) {
      const { before, after } = partsOfNote(one);
      assert.match(before, timed, file);
      assert.match(before, wrong, file);
      assert.ok((after.match(asked) ?? []).length >= 1, `${file}: ${one.headline}`);
    }
    assert.match(views.at(-1).note, last, file);
  }
});

test("a scene of the story that a lesson speaks of has the name that the story's map gives it", () => {
  for (const file of readdirSync(new URL("lessons/", folder))) {
    const shipped = readLesson(readFileSync(new URL(`lessons/${file}`, folder), "utf8"), known);
    const { story } = texts[shipped.language];
    const scenes = Object.entries(story).flatMap(([name, words]) => (name.startsWith("map_") ? [words] : []));
    const said = shipped.views.flatMap(({ note, answer }) => `${answer}\n${note}`.split(/[\n。]|\. /u));
    const named = said.flatMap((words) => [...words.matchAll(/(?:the story[^“]*|故事[^“]*)“([^”]+)”/gu)]);
    for (const [, scene] of named) assert.ok(scenes.includes(scene), `${file}: ${scene}`);
    if (file.includes("attention")) assert.ok(named.length > 1, file);
  }
});

test("of a note the first paragraph is for before the answer, the others for after it", () => {
  const asked = { hidden: true, note: "Ask.\n\nTell.\n \nMore." };
  assert.deepEqual(partsOfNote(asked), { before: "Ask.", after: "Tell.\n\nMore." });
  assert.deepEqual(partsOfNote({ ...asked, note: "It is\nthis." }), { before: "", after: "It is\nthis." });
  assert.deepEqual(partsOfNote({ ...asked, hidden: false }), { before: "", after: asked.note });
});

test("views are added, changed, moved and left out without changing the lesson they were in", () => {
  const frozen = Object.freeze({
    ...newLesson("t", "en"),
    views: Object.freeze([1, 2, 3].map((n) => Object.freeze({ ...view, note: String(n) }))),
  });
  const notes = ({ views }) => views.map(({ note }) => note).join("");
  assert.equal(notes(withView(frozen, { ...view, note: "4" })), "1234");
  assert.equal(notes(moved(frozen, 0, 1)), "213");
  assert.equal(moved(frozen, 0, -1), frozen);
  assert.equal(moved(frozen, 2, 1), frozen);
  assert.equal(notes(without(frozen, 1)), "13");
  assert.equal(notes(changed(frozen, 1, { note: "x" })), "1x3");
  assert.equal(linkOf("#lang=zh&chapter=kv&lesson=x&prompt=a+b&kv.tokens=5"), "#chapter=kv&prompt=a+b&kv.tokens=5");
});

/** The browser's storage, which may be full. */
function storage(room = Infinity) {
  const held = new Map();
  return {
    held,
    get length() {
      return held.size;
    },
    key: (i) => [...held.keys()][i],
    getItem: (key) => held.get(key) ?? null,
    removeItem: (key) => held.delete(key),
    setItem: (key, value) => {
      if (value.length > room) throw Object.assign(new Error(), { name: "QuotaExceededError" });
      held.set(key, value);
    },
  };
}

test("lessons are kept one by one; what cannot be kept stays for now, what cannot be read is not thrown away", () => {
  const box = storage();
  createShelf(box, known).put("b", lesson);
  createShelf(box, known).put("a", { ...lesson, title: "A" });
  box.held.set("glass-llama-lesson.bad", '{"format": 1}');
  box.held.set("other", "x");
  const shelf = createShelf(box, known);
  assert.deepEqual(
    shelf.all().map(({ id, lesson: one, words }) => [id, one?.title ?? words]),
    [
      ["bad", '{"format": 1}'],
      ["a", "A"],
      ["b", lesson.title],
    ],
  );
  shelf.remove("a");
  assert.equal(shelf.get("a"), null);
  for (const [store, code] of [
    [storage(10), "full"],
    [null, "unavailable"],
  ]) {
    const poor = createShelf(store, known);
    assert.throws(() => poor.put("x", lesson), { code });
    assert.deepEqual(poor.get("x"), lesson);
    assert.equal(poor.all().length, 1);
    for (const table of Object.values(texts)) assert.ok(table.lessons[`bad_${code}`]);
  }
});

test("next shows what is covered before it goes on, and what was shown stays so on the way back", () => {
  const seen = [];
  const course = createCourse([{ hidden: true }, { hidden: false }, { hidden: true }], 0, (...now) =>
    seen.push([course?.at() ?? 0, ...now]),
  );
  course.begin();
  assert.deepEqual([course.at(), course.covered()], [0, true]);
  course.next();
  assert.deepEqual([course.at(), course.covered()], [0, false]);
  course.next();
  course.toggle(); // nothing to cover here
  assert.deepEqual([course.at(), course.covered()], [1, false]);
  course.next();
  course.next();
  course.next(); // the end
  assert.deepEqual([course.at(), course.covered(), course.last()], [2, false, true]);
  course.back();
  course.back();
  assert.deepEqual([course.at(), course.covered()], [0, false]);
  assert.deepEqual(seen.at(-1), [0, true, true]); // to another view, from the one after it
  course.toggle();
  assert.deepEqual([course.covered(), seen.at(-1)], [true, [0, false, false]]);
  course.go(99);
  course.go(-1);
  assert.equal(course.at(), 0);
});

test("an answer in words is asked for, too, where the view itself is not covered", () => {
  const course = createCourse([{ hidden: false, question: "Why?", answer: "So." }, { hidden: false }], 0, () => {});
  course.begin();
  assert.deepEqual([course.at(), course.covered()], [0, true]);
  course.next();
  assert.deepEqual([course.at(), course.covered()], [0, false]);
  course.next();
  assert.deepEqual([course.at(), course.covered()], [1, false]);
  const [question, answer] = ["Why?", "So."];
  assert.deepEqual(
    [
      { question, answer: "" },
      { question: "", answer },
      { question, answer },
    ].map(asks),
    [false, false, true],
  );
});

test("a view that is added before the one that is shown moves it on, and leaves it shown", () => {
  const course = createCourse([{ hidden: false }, { hidden: true }], 1, () => {});
  course.begin();
  course.insert({ hidden: false }, 1); // taken up at the first view, while the presenter went on to the second
  assert.deepEqual([course.at(), course.covered(), course.last()], [2, true, true]);
  course.back();
  assert.deepEqual([course.at(), course.covered()], [1, false]);
});

test("a clicker's keys go through a lesson, and what is typed does not", () => {
  const at = (...selectors) => ({ closest: (list) => selectors.some((one) => list.includes(one)) });
  const words = { closest: (list) => list.includes("input") && !list.includes("[type=range]") };
  const press = (key, target = at(), more = {}) => actOf({ key, target, ...more });
  assert.deepEqual(
    ["PageDown", "PageUp", "ArrowRight", "ArrowLeft", " ", "Escape", "N", "r", "F5", "ArrowDown", "?", ".", "b"].map(
      (key) => press(key),
    ),
    ["next", "back", "next", "back", "next", "close", "notes", "reveal", "full", "down", "help", "dark", "dark"],
  );
  const typed = ["n", "r", " ", "ArrowRight", "Home"];
  assert.deepEqual(
    typed.map((key) => press(key, words)),
    [null, null, null, null, null],
  );
  assert.deepEqual(
    typed.map((key) => press(key, at("input"))),
    ["notes", "reveal", null, null, null],
  );
  for (const field of ["input", "textarea", "select", "canvas"]) {
    assert.deepEqual(
      ["PageDown", "PageUp", "F5"].map((key) => press(key, at(field))),
      ["next", "back", "full"],
      field,
    );
  }
  assert.equal(press("Escape", at("input")), "out");
  assert.equal(press("ArrowDown", at("canvas")), null); // it moves the selection there
  assert.equal(press("ArrowDown", at("button")), "down");
  assert.equal(press("n", at(), { ctrlKey: true }), null);
  assert.equal(press(" ", at(), { shiftKey: true }), "back");
  assert.equal(press(" ", words, { shiftKey: true }), null);
});

test("pages hold every part once, cut none that fits, and are no taller than the room", () => {
  let seed = 7;
  const chance = (n) => {
    seed = (seed * 48271) % 2147483647;
    return seed % n;
  };
  for (let round = 0; round < 300; round++) {
    const boxes = [];
    let y = 0;
    for (let i = 0; i < 1 + chance(12); i++) {
      const height = 10 + chance(90);
      boxes.push([y, y + height]);
      if (chance(3) === 0) boxes.push([y, y + chance(height) + 1]); // beside it
      y += height + chance(20);
    }
    const room = 100 + chance(200);
    const { pages, cut } = pagesOf(boxes, room);
    assert.equal(cut, false);
    for (const [top, bottom] of pages) assert.ok(bottom - top <= room && bottom > top, `${bottom - top} > ${room}`);
    for (const [top, bottom] of boxes)
      assert.equal(
        pages.filter(([from, to]) => top >= from && bottom <= to).length,
        1,
        JSON.stringify({ boxes, pages, room }),
      );
  }
  assert.equal(pagesOf([[0, 500]], 100).cut, true);
  assert.deepEqual(pagesOf([], 100), { pages: [], cut: false });
  assert.deepEqual(
    led([
      [0, 20, true],
      [24, 90, false],
    ]),
    [
      [0, 56],
      [24, 90],
    ],
  );
  assert.deepEqual(
    led([
      [0, 20, true],
      [24, 40, false],
    ]),
    [
      [0, 40],
      [24, 40],
    ],
    "no further than what follows goes",
  );
});

test("a presented panel is double at 1280 px, its smallest text 24 px, else 22 px, and as it is on a telephone", () => {
  for (const width of [1280, 1366, 1920, 3840]) {
    const { large, legible } = sizesFor(width);
    assert.ok(large[0] >= 2 && 14 * large.at(-1) >= 23.99 && 14 * legible[0] >= 21.99, String(width));
  }
  assert.deepEqual(sizesFor(390), { larger: [], large: [1], legible: [], smaller: [] });
  assert.deepEqual(
    [finenessOf(1280, 720), finenessOf(1920, 1080), finenessOf(1920, 720), finenessOf(390, 844)],
    [1, 1.5, 1, 1],
  );
  const [small, fine] = [sizesFor(1280), sizesFor(1920, 1.5)];
  for (const name of ["large", "legible"])
    fine[name].forEach((size, i) => assert.ok(Math.abs(size - 1.5 * small[name][i]) < 1e-9, name));
});

test("a page rather ends before a block than in it, and a table's rows have room for its head once more", () => {
  const rows = (from, count) => Array.from({ length: count }, (_, i) => [from + 20 * i, from + 20 * (i + 1)]);
  const boxes = [[0, 60], ...rows(60, 4)];
  const tops = (found) => found.pages.map(([top]) => top);
  assert.deepEqual(tops(pagesOf(boxes, 100)), [0, 100]);
  assert.deepEqual(tops(pagesOf(boxes, 100, { blocks: [[60, 140]] })), [0, 60]);
  const long = { blocks: [[20, 160]] }; // it begins so early that to keep it whole would leave a page all but empty
  assert.deepEqual(tops(pagesOf([[0, 20], ...rows(20, 7)], 150, long)), [0, 140]);
  const repeated = (top) => (top > 20 ? 20 : 0);
  const table = pagesOf(rows(0, 12), 100, { repeated });
  assert.deepEqual(tops(table), [0, 100, 180]);
  assert.equal(table.cut, false);
});

test("a worksheet's page holds as many questions as fit, and one that is taller than it alone", () => {
  assert.deepEqual(pagesOfBoxes([300, 500, 400, 1200, 100], 1000, 100), [
    { from: 0, to: 2, left: 100, size: 1 },
    { from: 2, to: 3, left: 600, size: 1 },
    { from: 3, to: 4, left: -200, size: 1 },
    { from: 4, to: 5, left: 900, size: 1 },
  ]);
});

test("two boxes share a page of a worksheet where pictures a little smaller make room for both", () => {
  assert.deepEqual(pagesOfBoxes([600, 480, 600, 600], 1000, 0, [300, 200, 500, 400]), [
    { from: 0, to: 2, left: 0, size: 0.84 },
    { from: 2, to: 3, left: 400, size: 1 },
    { from: 3, to: 4, left: 400, size: 1 },
  ]);
});
