/**
 * Identifiers of unreleased QoS 2 messages: a second message with the same identifier is a repetition. MQTT 3.1.1 limits their
 * number only by the identifiers, so each takes one bit.
 */

const idMax = 0xffff

export class MessageIds {
  /** Most clients publish nothing at QoS 2. */
  #bits: Uint8Array | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  has(id: number): boolean {
    return ((this.#bits?.[id >> 3] ?? 0) & (1 << (id & 7))) !== 0
  }

  add(id: number): void {
    if (this.has(id)) return
    this.#bits ??= new Uint8Array((idMax + 1) >> 3)
    this.#flip(this.#bits, id)
    this.#size++
  }

  /** Returns false for an unknown identifier. */
  delete(id: number): boolean {
    if (this.#bits === undefined || !this.has(id)) return false
    this.#flip(this.#bits, id)
    this.#size--
    return true
  }

  #flip(bits: Uint8Array, id: number): void {
    bits[id >> 3] = (bits[id >> 3] ?? 0) ^ (1 << (id & 7))
  }
}
