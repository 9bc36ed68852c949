/** Episodes: stretches of successive readings that fail one of some tests of quality. */

import { type GapThresholds, StretchCursor } from '../reliability/cadence.ts'

export interface MarkedSamples {
  /** Ascending. */
  readonly timesMs: Float64Array
  /** NaN is missing. */
  readonly values: Float64Array
  /** One for each value, see `quality-marks.ts`. */
  readonly marks: Uint8Array
}

export interface Episode {
  /** Time of the first and of the last marked value. */
  readonly startMs: number
  readonly endMs: number
  /** True if all values after it are bad or missing. */
  readonly isLast: boolean
  readonly count: number
  readonly last: number
  readonly min: number
  readonly max: number
}

interface Open {
  startMs: number
  endMs: number
  count: number
  last: number
  min: number
  max: number
}

/**
 * Episodes of the values with one of `bits`, oldest first. A good value or a gap ends an episode, unless the next
 * marked one comes within `joinMs`.
 */
export function episodesOf(
  { timesMs, values, marks }: MarkedSamples,
  bits: number,
  gaps: GapThresholds,
  joinMs = 0,
): Episode[] {
  const builder = new EpisodeBuilder(joinMs)
  const cursor = new StretchCursor(gaps)
  let beforeMs = Number.NaN
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number
    if (Number.isNaN(value)) continue
    const timeMs = timesMs[index] as number
    const isMarked = ((marks[index] as number) & bits) !== 0
    if (!isMarked || timeMs - beforeMs > (cursor.at(beforeMs)?.gapMs ?? 0)) builder.interrupt()
    if (isMarked) builder.add(timeMs, value)
    beforeMs = timeMs
  }
  return builder.end()
}

class EpisodeBuilder {
  readonly #joinMs: number
  readonly #closed: Episode[] = []
  #open: Open | undefined
  #isInterrupted = false

  constructor(joinMs: number) {
    this.#joinMs = joinMs
  }

  /** Called for a good value, and for a gap. */
  interrupt(): void {
    this.#isInterrupted = true
  }

  add(timeMs: number, value: number): void {
    if (this.#isInterrupted && this.#open !== undefined && timeMs - this.#open.endMs > this.#joinMs) this.#close(false)
    this.#isInterrupted = false
    this.#open ??= { startMs: timeMs, endMs: timeMs, count: 0, last: value, min: value, max: value }
    const open = this.#open
    open.endMs = timeMs
    open.count++
    open.last = value
    open.min = Math.min(open.min, value)
    open.max = Math.max(open.max, value)
  }

  end(): Episode[] {
    this.#close(!this.#isInterrupted)
    return this.#closed
  }

  #close(isLast: boolean): void {
    if (this.#open !== undefined) this.#closed.push({ ...this.#open, isLast })
    this.#open = undefined
  }
}
