/** Sudden rises of a temperature, caused by a door, a defrost or a warm load in a cold room. */

import type { Samples } from '../present.ts'

export interface Rise {
  /** Time of the lowest value before it. */
  readonly startMs: number
  readonly peakMs: number
  readonly kelvin: number
}

const windowMs = 600_000
const riseMinK = 1

/**
 * Rises of 1 K or more within 10 minutes, oldest first. A rise continues up to its peak, and ends when half of it is
 * gone, or 10 minutes after the peak. Values must not be NaN.
 */
export function temperatureRises({ timesMs, values }: Samples): Rise[] {
  const rises: Rise[] = []
  const lows = new RecentLows()
  let open: { startMs: number; low: number; peakMs: number; peak: number } | undefined
  const close = () => {
    if (open !== undefined) rises.push({ startMs: open.startMs, peakMs: open.peakMs, kelvin: open.peak - open.low })
    open = undefined
  }
  for (let at = 0; at < timesMs.length; at++) {
    const [timeMs, value] = [timesMs[at] as number, values[at] as number]
    if (open !== undefined) {
      const isOver = value <= (open.peak + open.low) / 2 || timeMs - open.peakMs > windowMs
      if (!isOver && value > open.peak) Object.assign(open, { peak: value, peakMs: timeMs })
      if (!isOver) continue
      close()
      lows.clear()
    }
    const low = lows.lowestSince(timeMs - windowMs)
    // Differences of decimals are not exact.
    if (low !== undefined && value - low.value >= riseMinK - 1e-9) {
      open = { startMs: low.timeMs, low: low.value, peakMs: timeMs, peak: value }
    } else {
      lows.add({ timeMs, value })
    }
  }
  close()
  return rises
}

interface Low {
  readonly timeMs: number
  readonly value: number
}

/** The values of a window without a later lower one, oldest first: the first is the lowest. */
class RecentLows {
  #lows: Low[] = []
  #first = 0

  add(low: Low): void {
    while (this.#lows.length > this.#first && (this.#lows.at(-1) as Low).value >= low.value) this.#lows.pop()
    this.#lows.push(low)
  }

  lowestSince(timeMs: number): Low | undefined {
    while (this.#first < this.#lows.length && (this.#lows[this.#first] as Low).timeMs < timeMs) this.#first++
    if (this.#first > 1024) {
      this.#lows = this.#lows.slice(this.#first)
      this.#first = 0
    }
    return this.#lows[this.#first]
  }

  clear(): void {
    this.#lows = []
    this.#first = 0
  }
}
