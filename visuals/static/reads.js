// What a drawing reads while it draws, so that it is drawn anew exactly when some of that has changed since.

/**
 * The drawing under way, the innermost of several.
 *
 * @type {Reads | null}
 */
let current = null;

/**
 * @param {object} source an object, or a RecordedMap
 * @param {any} name
 */
const valueOf = (source, name) => (source instanceof RecordedMap ? source.plain(name) : source[name]);

/** A value that is noted by the drawing under way; what a getter reads to find it is not. */
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
 * @template {object} Source
 * @param {Source} object
 * @param {() => void} [changed] called where one is set to something else
 * @returns {Source}
 */
export function reactive(object, changed) {
  const set = (target, name, value) => {
    const other = !Object.is(target[name], value);
    target[name] = value;
    if (other) changed();
    return true;
  };
  return new Proxy(object, changed ? { get: read, set } : { get: read });
}

/** Has some fields of an object, which may change, noted when they are read; the others are read as fast as ever. */
export function watchFields(object, ...names) {
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
  return () => read(source, "value");
}

const SIZE = Symbol("size");

/** A map that grows while it is shown: noted is what was asked for, be it there or not, and how much there is. */
export class RecordedMap extends Map {
  plain(key) {
    return key === SIZE ? super.size : super.get(key);
  }
  get(key) {
    return read(this, key);
  }
  has(key) {
    return read(this, key) !== undefined;
  }
  get size() {
    return read(this, SIZE);
  }
  keys() {
    read(this, SIZE);
    return super.keys();
  }
}

/** What one drawing has read. */
export class Reads {
  #seen = new Map(); // by source, by name, the value
  #stale = true;
  #outer = null;

  note(source, name, value) {
    if (!this.#seen.has(source)) this.#seen.set(source, new Map());
    const values = this.#seen.get(source);
    if (!values.has(name)) values.set(name, value);
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

  /** Notes what `draw` reads, in the place of what was noted before, or with `more` beside it. */
  during(draw, more = false) {
    if (!more) this.#seen.clear();
    this.#stale = false;
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
   * @param {(fresh: boolean) => (() => void) | void} draw as store.js has it
   * @param {boolean} fresh draw in any case
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
 * @param {(fresh: boolean) => (() => void) | void} draw
 */
export function effect(draw) {
  const reads = new Reads();
  return (fresh) => reads.redraw(draw, fresh);
}

/** A part of a drawing, which is drawn anew where an argument is another, or something that it read. */
export function memo(draw) {
  const reads = new Reads();
  let last = [];
  return (...given) => {
    if (given.length === last.length && given.every((value, i) => Object.is(value, last[i])) && !reads.changed())
      return reads.pass();
    last = given;
    return reads.during(() => draw(...given));
  };
}

/** Says that the drawing under way is to be gone on with when the panels are drawn the next time. */
export const unfinished = () => current?.spoil();

/** The old one where the new one says the same, field by field: what is pointed at is found anew with every move. */
export const same = (old, now) =>
  old && now && Object.keys({ ...old, ...now }).every((name) => Object.is(old[name], now[name])) ? old : now;
