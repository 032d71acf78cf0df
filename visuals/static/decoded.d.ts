// What decode.js makes of a message: the same, with every packed array in it as a typed array.

import type { Calculations, Details, Packed } from "./messages.d.ts";

/** An array of any shape: its values row by row. */
export interface NumArray {
  shape: number[];
  data: Float32Array | Float64Array | Uint8Array | Uint16Array | Int32Array;
}

/** A message or a part of one, with every packed array in it decoded, however deep. */
export type Decoded<T> = T extends Packed ? NumArray : T extends object ? { [Key in keyof T]: Decoded<T[Key]> } : T;

/** The answer to one of the page's questions about a run. */
export type Detail<What extends keyof Details> = Decoded<Details[What]>;

/** The answer to one of its questions that need no run. */
export type Calculation<What extends keyof Calculations> = Decoded<Calculations[What]>;
