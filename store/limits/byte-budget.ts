/**
 * The memory of what is held at present. Slow senders hold it for long, so a key gets no more of it than it leaves free
 * (a dynamic threshold): alone it holds half, and there is room for a key that comes later.
 */

export class ByteBudget {
  readonly #bytesMax: number
  #bytes = 0
  /** By key; none that holds nothing. */
  readonly #held = new Map<string, number>()

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** False when there is no room. */
  take(key: string, bytes: number): boolean {
    const held = (this.#held.get(key) ?? 0) + bytes
    if (held > this.#bytesMax - this.#bytes - bytes) return false
    this.#bytes += bytes
    this.#held.set(key, held)
    return true
  }

  release(key: string, bytes: number): void {
    const held = (this.#held.get(key) ?? 0) - bytes
    this.#bytes -= bytes
    if (held > 0) this.#held.set(key, held)
    else this.#held.delete(key)
  }
}
