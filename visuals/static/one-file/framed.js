// A file of runs in a frame, as in a notebook's cell (app/notebook): it tells the page around it where the reader
// looks, and goes where that page says. Both say it as { glass: Place, sent: number }: the outer page numbers what it
// says, and the file says up to which number it has followed: -1, as it opens.

/**
 * @typedef {import("../types.d.ts").Glass} Glass
 *
 * @typedef {{
 *   layer: number;
 *   head: number;
 *   query: number;
 *   key: number;
 *   chapter: string;
 *   panel: string;
 *   language: string;
 * }} Place
 *   `panel`: the one that is shown alone, "" for the whole chapter
 */

/**
 * Shows one panel alone, in its chapter; "" brings the chapter back.
 *
 * @param {Glass} glass
 * @param {string} panel
 */
function present(glass, panel) {
  const { chapters, homes } = window.glassConfig;
  const home = homes[panel];
  if (home && !chapters[glass.state.chapter]?.panels.includes(panel)) glass.open(home);
  document.body.classList.toggle("of-alone", Boolean(home));
  glass.present(home ? panel : null);
}

/**
 * @param {Glass} glass
 * @param {Window} [outer] the page around this one
 */
export function followOuter(glass, outer = window.parent) {
  if (outer === window) return;
  let panel = "";
  let sent = -1;
  function tell() {
    const { chapter, language, locked } = glass.state;
    const { layer, head, query, key } = locked;
    // Whoever has framed the file may know where its reader looks; it has given the file itself.
    outer.postMessage({ glass: { layer, head, query, key, chapter, panel, language }, sent }, "*");
  }
  /** @param {Partial<Place> & { theme?: string }} to */
  function go({ chapter, panel: alone, language, theme, ...place }) {
    if (theme !== undefined) document.body.classList.toggle("dark", theme === "dark");
    if (language !== undefined && language !== glass.state.language) glass.setLanguage(language);
    if (chapter !== undefined && chapter !== glass.state.chapter) glass.open(chapter);
    if (alone !== undefined && alone !== panel) {
      panel = alone;
      present(glass, panel);
    }
    if (Object.keys(place).length) glass.select(place);
    tell();
  }
  for (const event of ["select", "chapter", "language", "run"]) glass.on(event, tell);
  addEventListener("message", ({ source, data }) => {
    if (source !== outer || !data?.glass) return;
    sent = data.sent;
    go(data.glass);
  });
  tell();
}
