/** Directions and amounts over a range: increases of counters, sums of rates. */

import type { RangeReadings } from '../../../api/read/shapes.ts'
import type { DailySummary } from '../../../query/shapes/daily.ts'
import type { Stretch } from '../../charts/panel.ts'
import { dayMs, type Zone } from '../../text/zone.ts'
import { type Detail, dayOf, hoursOf } from './answers.ts'
import { type Amount, type AmountSeries, column, type DirectionSeries } from './series.ts'

const hourMs = 3_600_000

export function amountsOfHours(detail: Detail, metric: string, kind: AmountSeries['kind']): AmountSeries {
  const bars = hoursOf<AmountSeries['kind']>(detail, metric).flatMap(hour => {
    const amount = amountOf(hour)
    return amount === undefined ? [] : [{ fromMs: hour.t, toMs: hour.t + hourMs, ...amount }]
  })
  return { kind, metric, bars }
}

export function amountsOfDays(days: Days, metric: string, kind: AmountSeries['kind'], zone: Zone): AmountSeries {
  const bars = days.flatMap(day => {
    const figures = dayOf<AmountSeries['kind']>(day, metric)
    const amount = figures === undefined ? undefined : amountOf(figures)
    return amount === undefined ? [] : [{ ...stretchOf(day, zone), ...amount }]
  })
  return { kind, metric, bars }
}

export function amountsOfSteps(
  rows: RangeReadings,
  metric: string,
  kind: AmountSeries['kind'],
  stepSeconds: number,
): AmountSeries {
  const { timesMs, values } = column(rows, `${metric}_${kind === 'counter' ? 'increase' : 'sum'}`)
  const bars = timesMs.map((fromMs, place) => ({
    fromMs,
    toMs: fromMs + stepSeconds * 1000,
    value: values[place] as number,
    ofGap: 0,
  }))
  return { kind, metric, bars }
}

type Grown =
  | { readonly kind: 'counter'; readonly increase: number | null; readonly unplaced_increase: number }
  | { readonly kind: 'rate'; readonly sum: number | null }

/** The amount of a stretch, null where unknown, and the growth of a counter in a gap that ended in it. */
interface Growth {
  readonly placed: number | null
  readonly ofGap: number
}

/** Undefined where nothing is known. */
export function growthOf(figures: Grown): Growth | undefined {
  const [placed, ofGap] = figures.kind === 'rate' ? [figures.sum, 0] : [figures.increase, figures.unplaced_increase]
  return placed === null && ofGap === 0 ? undefined : { placed, ofGap }
}

/** The amount of a bar. Growth in a gap counts where the gap ends, as in steps. */
export function amountOf(figures: Grown): Pick<Amount, 'value' | 'ofGap'> | undefined {
  const growth = growthOf(figures)
  return growth && { value: (growth.placed ?? 0) + growth.ofGap, ofGap: growth.ofGap }
}

export function directionsOfHours(detail: Detail, metric: string): DirectionSeries {
  const means = hoursOf<'direction'>(detail, metric).flatMap(({ t, mean_degrees }) =>
    mean_degrees === null ? [] : [{ atMs: t + hourMs / 2, value: mean_degrees }],
  )
  return directionSeries(metric, means, hourMs)
}

export function directionsOfDays(days: Days, metric: string, zone: Zone): DirectionSeries {
  const means = days.flatMap(day => {
    const mean = dayOf<'direction'>(day, metric)?.mean_degrees ?? null
    const { fromMs, toMs } = stretchOf(day, zone)
    return mean === null ? [] : [{ atMs: (fromMs + toMs) / 2, value: mean }]
  })
  return directionSeries(metric, means, dayMs)
}

export function directionsOfSteps(rows: RangeReadings, metric: string, stepSeconds: number): DirectionSeries {
  return { kind: 'direction', metric, ...column(rows, `${metric}_mean`), stepMs: stepSeconds * 1000 }
}

function directionSeries(
  metric: string,
  means: readonly { readonly atMs: number; readonly value: number }[],
  stepMs: number,
): DirectionSeries {
  return {
    kind: 'direction',
    metric,
    timesMs: means.map(({ atMs }) => atMs),
    values: means.map(({ value }) => value),
    stepMs,
  }
}

type Days = DailySummary['days']

/** The stretch of a local day. */
export function stretchOf({ date }: Pick<Days[number], 'date'>, zone: Zone): Stretch {
  const day = Date.parse(date) / dayMs
  return { fromMs: zone.dayStartMs(day), toMs: zone.dayStartMs(day + 1) }
}
