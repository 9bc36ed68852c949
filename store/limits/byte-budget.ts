/**
 * Limits the memory of held bytes. Slow senders hold memory for long, so a key gets at most as much as it leaves free (a dynamic
 * threshold): a single key holds at most half, and later keys find room.
 */

export class ByteBudget {
  readonly #bytesMax: number
  #bytes = 0
  /** By key. Keys that hold nothing have no entry. */
  readonly #held = new Map<string, number>()

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Returns false when there is no room. */
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
