// What a drawing reads while it draws, so that it is drawn anew exactly when some of that has changed since.

/**
 * @typedef {import("./types.d.ts").AnyObject} AnyObject
 *
 * @typedef {Record<PropertyKey, unknown>} Fields any object, by the names of its fields
 */

/**
 * The drawing under way, the innermost of several.
 *
 * @type {Reads | null}
 */
let current = null;

/**
 * @param {object} source an object, or a RecordedMap
 * @param {unknown} name of a field, or a map's key
 * @returns {unknown}
 */
const valueOf = (source, name) =>
  source instanceof RecordedMap
    ? source.plain(name)
    : /** @type {Fields} */ (source)[/** @type {PropertyKey} */ (name)];

/**
 * A value that is noted by the drawing under way; what a getter reads to find it is not.
 *
 * @template {AnyObject} Source
 * @param {Source} source
 * @param {unknown} name
 */
function read(source, name) {
  const outer = current;
  if (!outer) return valueOf(source, name);
  current = null;
  const value = valueOf(source, name);
  current = outer;
  outer.note(source, name, value);
  return value;
}

/**
 * The same object, whose fields are noted when they are read.
 *
 * @template {AnyObject} Source
 * @param {Source} object
 * @param {() => void} [changed] called where one is set to something else
 * @returns {Source}
 */
export function reactive(object, changed) {
  if (!changed) return new Proxy(object, { get: read });
  return new Proxy(object, {
    get: read,
    set(target, name, value) {
      const fields = /** @type {Fields} */ (target);
      const other = !Object.is(fields[name], value);
      fields[name] = value;
      if (other) changed();
      return true;
    },
  });
}

/**
 * Has some fields of an object, which may change, noted when they are read; the others are read as fast as ever.
 *
 * @template {AnyObject} Source
 * @param {Source} object
 * @param {...(keyof Source & string)} names
 * @returns {Source}
 */
export function watchFields(object, ...names) {
  /** @type {Fields} */
  const fields = Object.fromEntries(names.map((name) => [name, object[name]]));
  for (const name of names) {
    Object.defineProperty(object, name, {
      enumerable: true,
      get: () => read(fields, name),
      set: (value) => {
        fields[name] = value;
      },
    });
  }
  return object;
}

/**
 * A function whose value is noted: worked out from what may change.
 *
 * @template Value
 * @param {() => Value} find
 * @returns {() => Value}
 */
export function computed(find) {
  const source = {
    get value() {
      return find();
    },
  };
  return () => /** @type {Value} */ (read(source, "value"));
}

const SIZE = Symbol("size");

/**
 * A map that grows while it is shown: noted is what was asked for, be it there or not, and how much there is.
 *
 * @template Key, Value
 * @extends {Map<Key, Value>}
 */
export class RecordedMap extends Map {
  /**
   * What is there, without a note of it.
   *
   * @param {Key | typeof SIZE} key
   */
  plain(key) {
    return key === SIZE ? super.size : super.get(key);
  }
  /**
   * @param {Key} key
   * @returns {Value | undefined}
   */
  get(key) {
    return /** @type {Value | undefined} */ (read(this, key));
  }
  /** @param {Key} key */
  has(key) {
    return read(this, key) !== undefined;
  }
  get size() {
    return /** @type {number} */ (read(this, SIZE));
  }
  keys() {
    read(this, SIZE);
    return super.keys();
  }
}

/** What one drawing has read. */
export class Reads {
  /** @type {Map<object, Map<unknown, unknown>>} */
  #seen = new Map(); // by source, by name, the value
  #stale = true;
  /** @type {Reads | null} */
  #outer = null;

  /**
   * @param {object} source
   * @param {unknown} name
   * @param {unknown} value
   */
  note(source, name, value) {
    const values = this.#seen.get(source);
    if (!values) this.#seen.set(source, new Map([[name, value]]));
    else if (!values.has(name)) values.set(name, value);
  }

  /** Whether the drawing would read something else now, or has not come to its end. */
  changed() {
    if (this.#stale) return true;
    for (const [source, values] of this.#seen) {
      for (const [name, value] of values) if (!Object.is(valueOf(source, name), value)) return true;
    }
    return false;
  }

  /** To be drawn again, whatever it has read; so is what it is a part of. */
  spoil() {
    this.#stale = true;
    this.#outer?.spoil();
  }

  /**
   * Notes what `draw` reads, in the place of what was noted before, or with `more` beside it: then what is not
   * finished stays so.
   *
   * @template Drawn
   * @param {() => Drawn} draw
   */
  during(draw, more = false) {
    if (!more) {
      this.#seen.clear();
      this.#stale = false;
    }
    this.#outer = current;
    current = this;
    try {
      return draw();
    } catch (error) {
      this.spoil();
      throw error;
    } finally {
      current = this.#outer;
      this.pass();
    }
  }

  /** What a part has read, the whole depends on. */
  pass() {
    if (current)
      for (const [source, values] of this.#seen) for (const [name, value] of values) current.note(source, name, value);
  }

  /**
   * Draws where there is something new.
   *
   * @param {import("./painting.js").Painter} draw
   * @param {boolean} fresh draw in any case
   * @returns {(() => void) | void}
   */
  redraw(draw, fresh) {
    if (!fresh && !this.changed()) return undefined;
    const rest = this.during(() => draw(fresh));
    return rest && (() => this.during(rest, true));
  }
}

/**
 * A panel's drawing function that draws where there is something new.
 *
 * @param {import("./painting.js").Painter} draw
 * @returns {import("./painting.js").Painter}
 */
export function effect(draw) {
  const reads = new Reads();
  return (fresh) => reads.redraw(draw, fresh);
}

/**
 * A part of a drawing, which is drawn anew where an argument is another, or something that it read.
 *
 * @template {any[]} Given
 * @param {(...given: Given) => void} draw
 * @returns {(...given: [...Given, ...unknown[]]) => void} draws anew for another of its further arguments, too
 */
export function memo(draw) {
  const reads = new Reads();
  /** @type {unknown[]} */
  let last = [];
  return (...given) => {
    if (given.length === last.length && given.every((value, i) => Object.is(value, last[i])) && !reads.changed())
      return reads.pass();
    last = given;
    return reads.during(() => draw(.../** @type {Given} */ (/** @type {unknown} */ (given))));
  };
}

/** Says that the drawing under way is to be gone on with when the panels are drawn the next time. */
export const unfinished = () => current?.spoil();

/**
 * The old one where the new one says the same, field by field: what is pointed at is found anew with every move.
 *
 * @template Value
 * @param {Value} old
 * @param {Value} now
 * @returns {Value}
 */
export function same(old, now) {
  if (!old || !now) return now;
  const [before, after] = /** @type {Fields[]} */ ([old, now]);
  return Object.keys({ ...before, ...after }).every((name) => Object.is(before[name], after[name])) ? old : now;
}
