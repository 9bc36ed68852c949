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
import type { Rise } from './temperature-rises.ts'

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
