/**
 * Finds defrosts among the rises of a temperature: rises of 2 K or more that recur with a period which also stands out
 * of the spectrum. Doors open at irregular times, a timer defrosts within minutes of its schedule.
 */

import { detrend } from '../decomposition/detrend.ts'
import type { Samples } from '../present.ts'
import { type Reason, reasons } from '../reasons.ts'
import { createPeakSearch } from '../spectrum/seasonal-peaks.ts'
import { momentsOf } from '../summary/moments.ts'
import { binMeans, frameOf } from '../time/grid.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const stepMs = 600_000
const spanDaysMin = 3
const observedShareMin = 0.5
const riseMinK = 2
const periodMsMin = 3 * hourMs
const periodMsMax = 48 * hourMs
/** Short pulses have as much power in the first multiples of their frequency. */
const multiplesMax = 4
/** Largest distance from the scheduled time: a share of the period, and an upper bound. */
const phaseShare = 0.05
const phaseMsMax = 1_800_000
/** Share of the periods with values that have a defrost, and share of the rises that are one. */
const periodsShareMin = 0.7
const risesShareMin = 0.5
const periodsMin = 4

export type Defrosts =
  | { readonly reason: null; readonly periodMs: number; readonly rises: readonly Rise[] }
  | { readonly reason: Reason }

/** `rises` are the rises of the samples, which must not contain NaN. */
export function defrostsAmong(rises: readonly Rise[], { timesMs, values }: Samples): Defrosts {
  const [firstMs, lastMs] = [timesMs[0], timesMs.at(-1)]
  if (firstMs === undefined || lastMs === undefined) return { reason: reasons.noValue }
  if (lastMs - firstMs < spanDaysMin * dayMs) return { reason: reasons.shortSpan }
  const cells = binMeans(timesMs, values, frameOf(firstMs, lastMs, stepMs))
  const { count, std } = momentsOf(cells)
  if (count < observedShareMin * cells.length) return { reason: reasons.sparseCells }
  if (!(std > 0)) return { reason: reasons.doesNotVary }
  const large = rises.filter(({ kelvin }) => kelvin >= riseMinK)
  for (const periodMs of periodsOf(cells)) {
    const found = inPhase(large, periodMs)
    const periods = (count * stepMs) / periodMs
    const isMost = found.all >= risesShareMin * large.length && found.rises.length >= periodsShareMin * periods
    if (periods >= periodsMin && isMost) return { reason: null, periodMs, rises: found.rises }
  }
  return { reason: reasons.noPeriod }
}

/** Periods that stand out, and their multiples, shortest first. */
function periodsOf(cells: Float64Array): number[] {
  const { peaks } = createPeakSearch(cells.length)(detrend(cells).residual)
  return peaks
    .filter(({ significant }) => significant)
    .flatMap(({ frequency }) => Array.from({ length: multiplesMax }, (_, one) => ((one + 1) * stepMs) / frequency))
    .filter(periodMs => periodMs >= periodMsMin && periodMs <= periodMsMax)
    .sort((a, b) => a - b)
}

/** The rises at the most frequent time within the period: the largest one of each period, and their total number. */
function inPhase(rises: readonly Rise[], periodMs: number): { readonly rises: readonly Rise[]; readonly all: number } {
  const widthMs = 2 * Math.min(phaseShare * periodMs, phaseMsMax)
  const phases = rises.map(({ startMs }) => startMs % periodMs).sort((a, b) => a - b)
  const round = [...phases, ...phases.map(phase => phase + periodMs)]
  let from = 0
  let all = 0
  for (let first = 0, end = 0; first < phases.length; first++) {
    while (end < round.length && (round[end] as number) - (round[first] as number) <= widthMs) end++
    if (end - first <= all) continue
    all = end - first
    from = round[first] as number
  }
  const largest = new Map<number, Rise>()
  for (const rise of rises) {
    const number = Math.floor((rise.startMs - from) / periodMs)
    if (rise.startMs - from - number * periodMs > widthMs) continue
    const known = largest.get(number)
    if (known === undefined || known.kelvin < rise.kelvin) largest.set(number, rise)
  }
  return { rises: [...largest.values()], all }
}

export interface Rise {
  /** Time of the lowest value before it. */
  readonly startMs: number
  readonly peakMs: number
  readonly kelvin: number
}

const windowMs = 600_000
const foundMinK = 1

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
    if (low !== undefined && value - low.value >= foundMinK - 1e-9) {
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
