/**
 * The memory of bodies that are held at present. Slow senders hold it for long, so a credential gets no more of it than
 * it leaves free (a dynamic threshold): alone it holds half, and there is room for a credential that comes later.
 */

export class BodyBudget {
  readonly #bytesMax: number
  #bytes = 0
  /** By credential; none that holds nothing. */
  readonly #held = new Map<string, number>()

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** False when there is no room. */
  take(credential: string, bytes: number): boolean {
    const held = (this.#held.get(credential) ?? 0) + bytes
    if (held > this.#bytesMax - this.#bytes - bytes) return false
    this.#bytes += bytes
    this.#held.set(credential, held)
    return true
  }

  give(credential: string, bytes: number): void {
    const held = (this.#held.get(credential) ?? 0) - bytes
    this.#bytes -= bytes
    if (held > 0) this.#held.set(credential, held)
    else this.#held.delete(credential)
  }
}
