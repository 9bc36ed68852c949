/**
 * Adapts the size of requests. A slow link, or a proxy with a limit, passes only short requests, while long ones cost QuestDB
 * less per row. So the size is halved when a request fails, and grows again with successful ones.
 */

/** The size for an unknown link: at 50 kB/s it passes in 20 s, and the maximum is reached after a few requests. */
const firstBytes = 1024 * 1024
/** A slower request is long enough: other requests wait for it. */
const promptMs = 5000
/** Growth above half of a rejected size, so that few requests fail. */
const carefulGrowth = 1 / 16

export class RequestSize {
  readonly #bytesMax: number
  #bytes: number
  #carefulFrom: number

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#bytes = Math.min(firstBytes, bytesMax)
    this.#carefulFrom = bytesMax
  }

  /** A request contains at least one row of any length. */
  get bytes(): number {
    return this.#bytes
  }

  /** The rows of a request of this length were accepted. A short one proves nothing about longer ones. */
  passed(length: number, tookMs: number): void {
    if (length < this.#bytes / 2 || tookMs > promptMs) return
    const growth = this.#bytes < this.#carefulFrom ? 1 : carefulGrowth
    this.#bytes = Math.min(this.#bytesMax, Math.ceil(this.#bytes * (1 + growth)))
  }

  /** A request of this length got no answer. */
  unanswered(length: number): void {
    this.#bytes = Math.min(this.#bytes, half(length))
  }

  /** A request of this length was rejected for its size. */
  refused(length: number): void {
    this.#carefulFrom = half(length)
    this.#bytes = Math.min(this.#bytes, this.#carefulFrom)
  }
}

function half(length: number): number {
  return Math.max(1, Math.floor(length / 2))
}
