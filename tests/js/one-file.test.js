import assert from "node:assert/strict";
import { test } from "node:test";
import { outOfPlanes } from "../../visuals/static/one-file/planes.js";
import { createServer, keyOf } from "../../visuals/static/one-file/server.js";

// tests/app/test_one_file.py has the same texts.
test("a question has one form, whatever the order of its fields", () => {
  const question = { what: "lens", text: '猫 "</\n', run: "run-0", follow: false, token: null, p: 0.05 };
  const key = '[["follow",false],["p",0.05],["run","run-0"],["text","猫 \\"</\\n"],["token",null],["what","lens"]]';
  assert.equal(keyOf({ ...question, absent: undefined }), key);
});

test("arrays come back number by number", () => {
  const numbers = { dtype: "f4", shape: [3] };
  const read = outOfPlanes([{ of: { ...numbers, data: "AACCAACowAD7P8A3" } }, null, "text"]);
  assert.deepEqual(read, [{ of: { ...numbers, data: "AADAPwAAAMCCqPs3" } }, null, "text"]);
});

const NOTHING = { layers: [], neurons: [], details: {}, calculations: {}, code: { excerpts: [], layers: [] } };

test("a panel's code is put together of excerpts that stand in the file once", async () => {
  const excerpt = (name) => ({ name, file: `${name}.py`, first: 5, lines: [], makes: [] });
  const excerpts = ["attend", "norm", "rotate"].map(excerpt);
  const tensors = { q: [0, 7], v: [0, 8], normed: [1, 6] };
  const layers = [{ run: "r", layers: [0, 2], tensors, panels: { rope: [2, 0] } }];
  const server = createServer({ ...NOTHING, code: { excerpts, layers } });
  const ask = (layer) =>
    server.detail({ what: "code", run: "r", layer, panel: "rope", tensors: ["normed", "v", "toString", "q"] });
  const makes = (name, ...made) => ({ ...excerpt(name), makes: made });
  assert.deepEqual((await ask(2)).data.excerpts, [
    makes("norm", { tensor: "normed", line: 6 }),
    makes("attend", { tensor: "v", line: 8 }, { tensor: "q", line: 7 }),
    makes("rotate"),
  ]);
  assert.equal((await ask(1)).code, "file_lacks");
});

const run = (name, generated, changes = {}) => ({
  prompt: "a",
  model: "m",
  generated,
  changes,
  message: { kind: "run", id: name, start: { layer: 1, head: 0 } },
});

test("a link's run is found by its text, what was written and what is changed", async () => {
  const runs = [run("plain", [5]), run("off", [5], { heads: [[0, 1]], ffn: [] })];
  const server = createServer({ ...NOTHING, runs });
  const id = async (asked) => {
    const { id: found, code } = await server.recall({ prompt: "a", generated: [], ...asked });
    return found ?? code;
  };
  assert.equal(await id({}), "plain"); // the only text of that prompt
  assert.equal(await id({ generated: [5], model: "m" }), "plain");
  assert.equal(await id({ generated: [5], changes: { ffn: [], heads: [[0, 1]] } }), "off");
  assert.equal(await id({ generated: [6] }), "file_run");
  assert.equal(await id({ changes: { heads: [[2, 2]] } }), "file_run");
  assert.equal(await id({ prompt: "b" }), "file_run");
  assert.equal(await id({ model: "other" }), "file_run");
  assert.equal((await server.recall({ prompt: "a", generated: [5] })).start.layer, 1);
  assert.equal((await server.recall({ prompt: "a", generated: [5], layer: 0 })).start, undefined);
  assert.equal((await server.detail({ run: "plain", what: "lens" })).code, "file_lacks");
});
