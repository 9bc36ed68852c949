/** One custom metric of two devices side by side, by its kind. */

import { agreementOf } from '../../analytics/correlation/agreement.ts'
import { directionAgreement, directionDifferences } from '../../analytics/direction/circular-summary.ts'
import { cadenceOf } from '../../analytics/reliability/cadence.ts'
import { coverageMin } from '../../analytics/reliability/coverage.ts'
import { stateAgreement, stateDurations } from '../../analytics/state/state-durations.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { bug } from '../../store/limits/bug.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import { objectText } from '../analyses/answer-text.ts'
import { type HoursGrid, hourMs, noHours, onGrid, startsOf } from '../analyses/gauge-hours.ts'
import { type PointStyle, pointsText } from '../answers/point-text.ts'
import type { CustomSamples } from '../custom-metric.ts'
import type { HourlyColumns } from '../series.ts'
import type { KindBucket } from '../shapes/kinds.ts'
import { type BucketContext, bucketFigures, runsOf } from './bucket-figures.ts'

export interface ComparedSamples {
  readonly device: Pick<AnalysedDevice, 'expected_interval_seconds'>
  readonly samples: CustomSamples
  /** Hours of a gauge, whose samples are not read; undefined where it has no value. */
  readonly hours: (HourlyColumns & { readonly startsMs: Float64Array }) | undefined
}

/** The hours of the grid, as JSON text. */
export function comparedText(a: ComparedSamples, b: ComparedSamples, grid: HoursGrid, style: PointStyle): string {
  const { kind, unit } = a.samples.metric
  const head = { kind: JSON.stringify(kind), unit: JSON.stringify(unit) }
  if (kind === 'state') return objectText({ ...head, ...statesTexts(a, b, grid, style.local) })
  const [ofA, ofB] = [hourValues(a, grid, style.local), hourValues(b, grid, style.local)]
  return objectText({ ...head, ...pairTexts(ofA, ofB, grid, style, kind === 'direction') })
}

/** One value of each device for each hour: both, their differences and their agreement, as JSON text. */
export function pairTexts(
  a: Float64Array,
  b: Float64Array,
  grid: HoursGrid,
  style: PointStyle,
  isDirection = false,
): Record<'a' | 'b' | 'diff' | 'stats', string> {
  const diff = isDirection ? directionDifferences(a, b) : a.map((value, hour) => value - (b[hour] as number))
  const agreement = () => agreementOf(a, b, { startMs: grid.startMs, stepMs: hourMs }, style.local)
  const [ofA, ofB, ofDiff] = [a, b, diff].map(values => pointsText(style, startsOf(grid), values)) as [
    string,
    string,
    string,
  ]
  return { a: ofA, b: ofB, diff: ofDiff, stats: JSON.stringify(isDirection ? directionAgreement(diff) : agreement()) }
}

function contextOf({ device }: ComparedSamples, nowMs: number, local: LocalTime): BucketContext {
  const { expected_interval_seconds: seconds } = device
  return { cadence: cadenceOf(new Float64Array(0), seconds === null ? null : seconds * 1000), nowMs, local }
}

/** One value for each hour, NaN where there is none. */
function hourValues(compared: ComparedSamples, grid: HoursGrid, local: LocalTime): Float64Array {
  const { samples, hours } = compared
  if (samples.metric.kind === 'gauge') return onGrid(grid, hours?.startsMs ?? noHours, hours?.mean ?? noHours)
  const buckets = Array.from(startsOf(grid), fromMs => ({ startMs: fromMs, endMs: fromMs + hourMs }))
  const context = contextOf(compared, endOf(grid), local)
  const figures = bucketFigures(samples, buckets, context)
  return Float64Array.from(figures, of => valueOfHour(of) ?? Number.NaN)
}

const endOf = ({ startMs, hours }: HoursGrid) => startMs + hours * hourMs

/** Incomplete hours are left out: their total would distort the difference. */
function valueOfHour(figures: KindBucket): number | null {
  switch (figures.kind) {
    case 'counter':
      return figures.covered_seconds * 1000 >= coverageMin * hourMs ? figures.increase : null
    case 'rate':
      return figures.coverage === null || figures.valid ? figures.sum : null
    case 'direction':
      return figures.mean_degrees
    case 'state':
      throw bug('states are not compared by the hour')
  }
}

function statesTexts(a: ComparedSamples, b: ComparedSamples, grid: HoursGrid, local: LocalTime) {
  const window = { startMs: grid.startMs, endMs: endOf(grid) }
  const runs = [a, b].map(one => runsOf(one.samples, contextOf(one, window.endMs, local)))
  const [ofA, ofB] = runs as [(typeof runs)[number], (typeof runs)[number]]
  return {
    a: JSON.stringify(stateDurations(ofA, [window])[0]),
    b: JSON.stringify(stateDurations(ofB, [window])[0]),
    stats: JSON.stringify(stateAgreement(ofA, ofB, window)),
  }
}
