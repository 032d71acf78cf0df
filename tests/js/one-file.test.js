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

const run = (name, generated, changes = {}) => ({
  prompt: "a",
  model: "m",
  generated,
  changes,
  message: { kind: "run", id: name, start: { layer: 1, head: 0 } },
});

test("a link's run is found by its text, what was written and what is changed", async () => {
  const runs = [run("plain", [5]), run("off", [5], { heads: [[0, 1]], ffn: [] })];
  const server = createServer({ runs, layers: [], neurons: [], details: {}, calculations: {} });
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
