// What panels draw from, as glass.js puts it together.

import type { createChapters } from "./chapters.js";
import type { Trace } from "./decode.js";
import type { Decoded } from "./decoded.d.ts";
import type { createFetching } from "./fetching.js";
import type { readLink } from "./link.js";
import type { createPage } from "./page.js";
import type { createRealModel } from "./real-model.js";
import type { createPace } from "./reading-speed.js";
import type { WayBack } from "./return-to.js";
import type { createSettings } from "./settings.js";
import type {
  CalculationMessage,
  Changes,
  DetailMessage,
  FileMessage,
  LayersMessage,
  ModelMessage,
  NeuronsMessage,
  Notice,
  RunMessage,
  StepsMessage,
} from "./messages.d.ts";
import type { Selection } from "./selection.js";
import type { createStore, State } from "./store.js";
import type { createTexts } from "./texts.js";

/** What has fields: JSDoc's own `object` is no more than `any` to a check that is not strict. */
export type AnyObject = object;

/** The network of a run. */
export type Model = Decoded<ModelMessage>;

/** A run as it is published: `source` is the run whose stream its patches took. */
export type RunPayload = RunMessage & { source?: Trace | null };
/** What is changed in a run, and whose stream its patches take. */
export interface Changed {
  changes: Changes;
  source?: Trace | null;
}
/** What is to be run, or run again: what is left out the server chooses. */
export interface RunRequest {
  prompt?: string;
  model?: string;
  generated: number[];
  layer?: number;
  changes?: Changes;
}
/** A refusal of the server's, or what the page says in its place (unanswered.js). */
export type Refusal = Notice & { unanswered?: true };

/** The server's functions (app/direct_calls.py); each gives a message, a refusal in the place of an answer too. */
export interface Server {
  [name: string]: (request: any) => Promise<any>;
  layers: (request: {
    run: string;
    layers: number[];
    token: number;
    ahead: boolean;
  }) => Promise<LayersMessage | Refusal>;
  neurons: (request: {
    run: string;
    layer: number;
    token: number | null;
    ahead: boolean;
  }) => Promise<NeuronsMessage | Refusal>;
  rerun: (request: {
    model: string;
    ids: number[];
    prompt: string;
    n_prompt: number;
    layer: number;
    changes: Changes;
  }) => Promise<RunPayload | Refusal>;
  detail: (request: { run: string; what: string }) => Promise<DetailMessage | Refusal>;
  calculate: (request: { what: string }) => Promise<CalculationMessage | Refusal>;
  change: (request: { run: string; changes: Changes; layer: number }) => Promise<RunPayload | Refusal>;
  recall: (request: RunRequest) => Promise<RunPayload | Refusal>;
  one_file: (request: object) => Promise<FileMessage | Refusal>;
  cut: (request: { run: string; count: number; layer: number; instead: string[] }) => Promise<RunPayload | Refusal>;
}

/** What the store is told. */
export type Payload = RunPayload | StepsMessage | Notice;

/** The state while there is a run: panels are drawn, and pointed at, only then (glass.js). */
export type Shown = State & { trace: Trace };

/** Finds a text by its name, with what is filled in. */
export type Say = (name: string, params?: Record<string, unknown>) => string;

/** A panel's own texts, and those of the whole page. */
export interface Says {
  text: Say;
  whole: Texts["text"];
}

export type Store = ReturnType<typeof createStore>;
export type Texts = ReturnType<typeof createTexts>;
export type Settings = ReturnType<typeof createSettings>;
export type Page = ReturnType<typeof createPage>;
export type Pace = ReturnType<typeof createPace>;
export type Chapters = ReturnType<typeof createChapters>;
export type Fetching = ReturnType<typeof createFetching>;

type FromStore = Pick<
  Store,
  | "state"
  | "on"
  | "preview"
  | "endPreview"
  | "select"
  | "selectByPage"
  | "chosen"
  | "repaint"
  | "drawn"
  | "unfinished"
  | "layer"
  | "keep"
  | "showSide"
  | "sides"
  | "subtractable"
  | "toEnd"
>;

export interface Glass
  extends FromStore, Pick<Texts, "text" | "translate" | "need">, Pick<Chapters, "open" | "present" | "reveal">, Page {
  settings: Settings;
  pace: Pace;
  /** The real LLaMA, where the page can offer it. */
  real: ReturnType<typeof createRealModel>;
  way: WayBack;
  link: ReturnType<typeof readLink>;
  /** The answer to one of app/chapters' DETAILS about a run, or null until it has come. */
  detail: Fetching["detail"];
  /** One layer of a run that is compared, or null until it has come. */
  layerOf: Fetching["layerOf"];
  expect: Fetching["expect"];
  /** The answer of one of app/chapters' CALCULATORS, or what went wrong. */
  calculate: Fetching["calculate"];
  /** What is shown as one HTML file, which the server makes: its text, or why there is none. */
  oneFile: (lesson?: {
    hash: string;
    lesson: object;
    views: object[];
    calculations: object[];
  }) => Promise<FileMessage | Refusal>;
  /** What was asked without a run, the last of it last. */
  calculations: () => { what: string }[];
  /** How many questions to the server have no answer yet. */
  asking: () => number;
  /** Runs the shown tokens once more with something changed (app/comparing.py). */
  change: (changes: Changes) => Promise<void>;
  /** Has the network that is shown, or another that is named, read a text; nothing is changed unless it is said. */
  read: (prompt: string, model?: string, changed?: Changed) => Promise<void>;
  /** Has another network read the prompt of A. */
  readBy: (model: string) => Promise<void>;
  showKept: () => void;
  /** Has panels read one of a network's two stacks, and something of it. */
  readStack: (stack: "encoder" | "decoder", selection?: Partial<Selection>) => void;
  /** Shows what an address describes. */
  visit: (hash: string) => Promise<void>;
  /** The address of what is shown now. */
  address: () => Promise<string>;
  /** Shows again what it showed before a lesson, which is no entry of the history. */
  entryAgain: () => Promise<void>;
  /** Has everything drawn for a page that the browser shows that much larger: as `magnify` in draw.js. */
  enlarge: (factor: number, room?: number, letters?: number) => void;
  /** A panel that is shown, as an SVG file. */
  picture: (kind: string) => Promise<string>;
  /** Hands a section to its panel's drawing function. */
  mount: (kind: string, element: HTMLElement) => Promise<void>;
  /** The page's language; resolves to what the bar is to show where its words did not come. */
  setLanguage: (code: string) => Promise<{ language: string } | undefined>;
  /** Takes a message from the server, which is shown at its time. */
  publish: Pace["take"];
  /** The server's functions are there, and gradio's event that changes the bar. */
  connect: (server: Server, changeBar: () => void) => Promise<void>;
  /** For Stop: the text ends where it is shown. */
  halt: () => ReturnType<Page["view"]>;
}
