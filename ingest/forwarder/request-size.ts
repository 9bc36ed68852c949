/**
 * How many bytes of rows go into one request. A slow link, or a proxy with a limit of its own, lets only short ones pass,
 * while a long one costs QuestDB less for each row. So the size is halved when a request does not pass, and grows again
 * with those that do.
 */

/** Before anything is known of the link: at 50 kB/s it passes in 20 s, and the most is reached after a few requests. */
const firstBytes = 1024 * 1024
/** One that takes longer is long enough: what comes behind it waits. */
const promptMs = 5000
/** Above half of what was refused, so that few requests are sent in vain. */
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

  /** One row at least goes into a request, however long it is. */
  get bytes(): number {
    return this.#bytes
  }

  /** The rows of a request of this length were taken. A short one says nothing about longer ones. */
  passed(length: number, tookMs: number): void {
    if (length < this.#bytes / 2 || tookMs > promptMs) return
    const growth = this.#bytes < this.#carefulFrom ? 1 : carefulGrowth
    this.#bytes = Math.min(this.#bytesMax, Math.ceil(this.#bytes * (1 + growth)))
  }

  /** A request of this length got no answer. */
  unanswered(length: number): void {
    this.#bytes = Math.min(this.#bytes, half(length))
  }

  /** A request of this length was refused for its size. */
  refused(length: number): void {
    this.#carefulFrom = half(length)
    this.#bytes = Math.min(this.#bytes, this.#carefulFrom)
  }
}

function half(length: number): number {
  return Math.max(1, Math.floor(length / 2))
}
