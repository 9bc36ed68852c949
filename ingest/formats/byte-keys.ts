/**
 * Values by byte keys, compared in place: creating a string for each key would take as long as the rest of a line. The hash is
 * simple, so a search ends after a few steps, whatever keys a sender invents. Further keys are looked up as strings.
 */

const stepsMax = 8

export class ByteKeys<Value> {
  readonly #bytes: Buffer
  readonly #starts: Int32Array
  readonly #ends: Int32Array
  readonly #hashes: Int32Array
  readonly #values: Value[] = []
  /** An index into the values plus one; 0 for a free slot. */
  readonly #slots: Int32Array
  readonly #others = new Map<string, Value>()

  /** The keys are in `bytes`; `slotCount` is a power of two. */
  constructor(bytes: Buffer, slotCount: number) {
    this.#bytes = bytes
    this.#slots = new Int32Array(slotCount)
    this.#starts = new Int32Array(slotCount)
    this.#ends = new Int32Array(slotCount)
    this.#hashes = new Int32Array(slotCount)
  }

  /** Returns the value of the key from `start` to `end`, which `make` creates for a new key. */
  get(start: number, end: number, make: (start: number, end: number) => Value): Value {
    const mask = this.#slots.length - 1
    const hash = this.#hash(start, end)
    for (let step = 0; step < stepsMax; step++) {
      const slot = (hash + step) & mask
      const found = this.#slots[slot] as number
      if (found === 0) {
        const value = make(start, end)
        this.#starts[slot] = start
        this.#ends[slot] = end
        this.#hashes[slot] = hash
        this.#slots[slot] = this.#values.push(value)
        return value
      }
      if (this.#hashes[slot] === hash && this.#isEqual(slot, start, end)) return this.#values[found - 1] as Value
    }
    return this.#other(start, end, make)
  }

  #hash(start: number, end: number): number {
    const bytes = this.#bytes
    let hash = 0
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x0100_0193)
    return hash ^ (hash >>> 15)
  }

  #isEqual(slot: number, start: number, end: number): boolean {
    const bytes = this.#bytes
    const distance = start - (this.#starts[slot] as number)
    if (end - distance !== this.#ends[slot]) return false
    for (let at = start; at < end; at++) if (bytes[at] !== bytes[at - distance]) return false
    return true
  }

  #other(start: number, end: number, make: (start: number, end: number) => Value): Value {
    const key = this.#bytes.toString('latin1', start, end)
    const known = this.#others.get(key)
    if (known !== undefined) return known
    const value = make(start, end)
    this.#others.set(key, value)
    return value
  }
}
