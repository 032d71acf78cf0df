// What the page's modules find in the window, beside what a browser puts there.

interface Window {
  /** The page's parts, for its own modules, for tests and for a reader's console (glass.js). */
  glass: import("./types.d.ts").Glass;
  /** What the server says of itself in the page's head (app/files.py). */
  glassConfig: import("./messages.d.ts").PageConfig;
  /** Called when the page's parts are there (app/files.py). */
  glassLoaded: (glass: import("./types.d.ts").Glass) => void;
  /** The text of an HTML file that holds the page (one-file/unpack.js). */
  glassFile?: string;
  /** plotly.js, once chart.js has fetched it. */
  Plotly: import("./chart.js").Plotly;
}

interface Uint8ArrayConstructor {
  /** Not in every browser that the page is read with. */
  fromBase64?: (text: string) => Uint8Array<ArrayBuffer>;
}
