/** One custom metric of two devices side by side, by its kind. */

import { agreementOf } from '../../analytics/correlation/agreement.ts'
import { directionAgreement, directionDifferences } from '../../analytics/direction/circular-summary.ts'
import { cadenceOf } from '../../analytics/reliability/cadence.ts'
import { coverageMin } from '../../analytics/reliability/coverage.ts'
import { stateAgreement, stateDurations } from '../../analytics/state/state-durations.ts'
import type { Bucket } from '../../analytics/summary/aggregates.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { bug } from '../../store/limits/bug.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import { objectText } from '../analyses/answer-text.ts'
import { type PointStyle, pointsText } from '../answers/point-text.ts'
import type { CustomSamples } from '../custom-metric.ts'
import type { HourlyColumns } from '../series.ts'
import type { KindBucket } from '../shapes/kinds.ts'
import { type BucketContext, bucketFigures, runsOf } from './bucket-figures.ts'

const hourMs = 3_600_000

export interface ComparedSamples {
  readonly device: Pick<AnalysedDevice, 'expected_interval_seconds'>
  readonly samples: CustomSamples
  /** Hours of a gauge, whose samples are not read; undefined where it has no value. */
  readonly hours: (HourlyColumns & { readonly startsMs: Float64Array }) | undefined
}

/** The hours of [startMs, endMs), as JSON text. */
export function comparedText(a: ComparedSamples, b: ComparedSamples, window: Bucket, style: PointStyle): string {
  const { kind, unit } = a.samples.metric
  const head = { kind: JSON.stringify(kind), unit: JSON.stringify(unit) }
  if (kind === 'state') return objectText({ ...head, ...statesTexts(a, b, window, style.local) })
  const starts = Float64Array.from({ length: (window.endMs - window.startMs) / hourMs }, (_, hour) => {
    return window.startMs + hour * hourMs
  })
  const [ofA, ofB] = [hourValues(a, starts, style.local), hourValues(b, starts, style.local)]
  const isDirection = kind === 'direction'
  const diff = isDirection ? directionDifferences(ofA, ofB) : ofA.map((value, hour) => value - (ofB[hour] as number))
  const agreement = () => agreementOf(ofA, ofB, { startMs: window.startMs, stepMs: hourMs }, style.local)
  return objectText({
    ...head,
    a: pointsText(style, starts, ofA),
    b: pointsText(style, starts, ofB),
    diff: pointsText(style, starts, diff),
    stats: JSON.stringify(isDirection ? directionAgreement(diff) : agreement()),
  })
}

function contextOf({ device }: ComparedSamples, nowMs: number, local: LocalTime): BucketContext {
  const { expected_interval_seconds: seconds } = device
  return { cadence: cadenceOf(new Float64Array(0), seconds === null ? null : seconds * 1000), nowMs, local }
}

/** One value for each hour, NaN where there is none. */
function hourValues(compared: ComparedSamples, starts: Float64Array, local: LocalTime): Float64Array {
  const values = new Float64Array(starts.length).fill(Number.NaN)
  const startMs = starts[0] ?? 0
  const { samples, hours } = compared
  if (samples.metric.kind === 'gauge') {
    for (const [row, mean] of (hours?.mean ?? []).entries()) {
      // Writes outside the array have no effect.
      values[((hours?.startsMs[row] as number) - startMs) / hourMs] = mean
    }
    return values
  }
  const buckets = Array.from(starts, fromMs => ({ startMs: fromMs, endMs: fromMs + hourMs }))
  const context = contextOf(compared, startMs + starts.length * hourMs, local)
  for (const [hour, figures] of bucketFigures(samples, buckets, context).entries()) {
    values[hour] = valueOfHour(figures) ?? Number.NaN
  }
  return values
}

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

function statesTexts(a: ComparedSamples, b: ComparedSamples, window: Bucket, local: LocalTime) {
  const runs = [a, b].map(one => runsOf(one.samples, contextOf(one, window.endMs, local)))
  const [ofA, ofB] = runs as [(typeof runs)[number], (typeof runs)[number]]
  return {
    a: JSON.stringify(stateDurations(ofA, [window])[0]),
    b: JSON.stringify(stateDurations(ofB, [window])[0]),
    stats: JSON.stringify(stateAgreement(ofA, ofB, window)),
  }
}
