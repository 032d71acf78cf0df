// The first script of a file that holds the page and its runs (app/one_file): unpacks both, gives each part of the page
// an address of its own, and begins. It stands in the file itself, and its hash in the file's policy.

/**
 * What an element of the file holds: JSON, packed by gzip, in base64.
 *
 * @param {string} id
 */
async function unpacked(id) {
  const packed = atob(document.getElementById(id)?.textContent ?? "");
  const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/**
 * The file itself, before anything in it is changed: a copy of the page in a frame is made of it
 * (lessons/stills.js).
 */
// eslint-disable-next-line no-restricted-properties -- it is read alone
window.glassFile = `<!doctype html>${document.documentElement.outerHTML}`;

const TYPES = new Map([
  ["js", "text/javascript"],
  ["css", "text/css"],
  ["json", "application/json"],
]);

/** @type {{ parts: Record<string, string>; styles: string[] }} each part after those that it imports */
const { parts, styles } = await unpacked("glass-page");
/** @type {Record<string, string>} */
const files = {};
/** @param {string} text in which "glass:<name>" stands for the address of a part */
const placed = (text) => text.replace(/"glass:([^"]+)"/g, (_, name) => JSON.stringify(files[name]));
for (const [name, text] of Object.entries(parts)) {
  const type = TYPES.get(name.slice(name.lastIndexOf(".") + 1));
  files[name] = URL.createObjectURL(new Blob([placed(text)], { type }));
}
for (const style of styles) {
  const link = document.createElement("link");
  await new Promise((done) => {
    Object.assign(link, { rel: "stylesheet", href: files[style], onload: done });
    document.head.append(link);
  });
}
window.glassConfig = { ...JSON.parse(placed(JSON.stringify(await unpacked("glass-config")))), files };
/** @type {Promise<import("../types.d.ts").Glass>} */
const ready = new Promise((done) => {
  window.glassLoaded = done;
});
/** @type {import("../messages.d.ts").FileContents} */
const contents = await unpacked("glass-runs");
if (contents.lesson) {
  const lesson = URL.createObjectURL(new Blob([JSON.stringify(contents.lesson)], { type: "application/json" }));
  for (const code of Object.keys(window.glassConfig.lessons)) window.glassConfig.lessons[code] = [lesson];
}
const { begin, start } = await import(files["one-file/start.js"]);
begin(contents);
await import(files["glass.js"]);
await start(await ready, contents);

export {}; // which makes it a module, for what waits at its top level
