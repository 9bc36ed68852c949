/**
 * Notes beside current values: duration of a state, today's growth of a counter, and whether a gauge is in its usual
 * range.
 */

import type { NormalValues } from '../../../query/shapes/normal.ts'
import type { PastDays } from '../../../query/shapes/past.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
import { type Quantities, type Quantity, shownValue } from '../../text/quantities.ts'
import { localMs, type Zone } from '../../text/zone.ts'
import { t } from '../../words/words.ts'
import { type Detail, type LastValues, normalOf, windowFiguresOf } from './answers.ts'
import { amountOfDay, type DayAmount } from './day-amounts.ts'
import type { LiveReading } from './series.ts'
import { type Hold, holdOf } from './state-series.ts'

export type NowNote =
  | {
      readonly kind: 'state'
      readonly sinceMs: number | undefined
      /** The state is unknown after this age of its value. undefined while the age is unknown. */
      readonly holdMs: number | undefined
    }
  | ({ readonly kind: 'today' } & Pick<DayAmount, 'placed' | 'ofGap'>)
  | {
      readonly kind: 'usual'
      /** The value's percentile among earlier days, at this hour. */
      readonly percentile: number
      readonly days: number
      readonly daysLower: number
      readonly daysEqual: number
      /** True if the shown value is within the middle four fifths of the days. */
      readonly isWithin: boolean
    }

interface NowSources {
  readonly values: LastValues
  /** Ascending by when they came. */
  readonly live: readonly LiveReading[]
  /** The last values at the page's read. */
  readonly lastKnown: LastValues
  readonly detail: Detail | undefined
  readonly stats: Stats | undefined
  readonly past: PastDays | undefined
  readonly normal?: NormalValues | undefined
  readonly quantities: Quantities
  readonly zone: Zone
}

/** Keys are metrics. */
export function nowNotes(of: NowSources): ReadonlyMap<string, NowNote> {
  const notes = new Map<string, NowNote>()
  for (const [metric, value] of Object.entries(of.values)) {
    const note = noteOf(of, metric, value)
    if (note !== undefined) notes.set(metric, note)
  }
  return notes
}

function noteOf(of: NowSources, metric: string, { v, ts }: LastValues[string]): NowNote | undefined {
  const { kind } = of.quantities.of(metric)
  if (kind === 'state') {
    const holdMs = of.detail && knownMs(holdOf(of.detail, metric))
    return { kind, sinceMs: stateSince(of, metric, v), holdMs }
  }
  // A battery falls from day to day, so its hour of day is not compared.
  if (kind === 'gauge') return metric.startsWith('battery') ? undefined : usualNote(of, metric, ts)
  if (kind === 'direction') return undefined
  const amount = of.past && amountOfDay(of.past.today, metric)
  return amount && { kind: 'today', placed: amount.placed, ofGap: amount.ofGap }
}

/** The limit spans the full hour of the answer and the next one, to the last value. */
const usualMsMax = 2 * 3_600_000

function usualNote({ normal, quantities, zone }: NowSources, metric: string, ts: number): NowNote | undefined {
  const found = normal && normalOf(normal, metric)
  if (found === undefined || found.percentile === null || found.at === null) return undefined
  const sinceMs = ts - localMs(zone, found.at)
  if (sinceMs < 0 || sinceMs > usualMsMax) return undefined
  return {
    kind: 'usual',
    percentile: found.percentile,
    days: found.days,
    daysLower: found.days_lower,
    daysEqual: found.days_equal,
    isWithin: isWithin(found, quantities.of(metric)),
  }
}

/** A value that is rounded to the same text does not look lower. */
function isWithin(
  { value, low, high }: Pick<NormalValues['temperature'], 'value' | 'low' | 'high'>,
  quantity: Quantity,
) {
  if (value === null || low === null || high === null) return false
  const [shown, shownLow, shownHigh] = [value, low, high].map(one =>
    shownValue(one, quantity).toFixed(quantity.decimals),
  )
  return Number(shown) >= Number(shownLow) && Number(shown) <= Number(shownHigh)
}

/** Percent above and below the middle four fifths. */
const unusualPercent = 10

/** `last full hour: higher than on 27 of 29 days` */
export function usualText(note: Extract<NowNote, { kind: 'usual' }>): string {
  const { percentile, days, daysLower, daysEqual, isWithin } = note
  if (isWithin) return t('last full hour: usual')
  if (percentile >= 100 - unusualPercent)
    return t('last full hour: higher than on {daysLower} of {days} days', { daysLower, days })
  if (percentile <= unusualPercent)
    return t('last full hour: lower than on {higher} of {days} days', { higher: days - daysLower - daysEqual, days })
  return t('last full hour: usual')
}

/** A last value holds for this time: the next one may follow after a gap, as on the timeline. */
const knownMs = ({ gapMs, holdMs }: Hold) => Math.max(gapMs ?? 0, holdMs)

/** The duration of the state at `ts`, or undefined where unknown. */
export function stateSpanMs(note: NowNote | undefined, ts: number, nowMs: number): number | undefined {
  if (note?.kind !== 'state' || note.sinceMs === undefined) return undefined
  return nowMs - ts > (note.holdMs ?? Number.POSITIVE_INFINITY) ? undefined : nowMs - note.sinceMs
}

/** The last change: a live one, or the one in the statistics if it led to the current state. */
function stateSince({ live, lastKnown, stats, zone }: NowSources, metric: string, now: number): number | undefined {
  let [before, sinceMs] = [lastKnown[metric]?.v, undefined as number | undefined]
  for (const { ts, values } of live) {
    const value = values[metric]
    if (value !== undefined && before !== undefined && value !== before) sinceMs = ts
    before = value ?? before
  }
  if (sinceMs !== undefined) return sinceMs
  const figures = stats && windowFiguresOf(stats, metric)
  if (figures?.kind !== 'state' || figures.last_change?.to !== now) return undefined
  return localMs(zone, figures.last_change.at)
}

/** Without an expected interval, the service assumes a quarter of an hour. */
const expectedSecondsUsual = 900

type Pace = Pick<Stats['freshness'], 'cadence' | 'expected_interval_seconds'> &
  Pick<Stats['reliability'], 'gap_threshold_seconds'>
type Gaps = Pick<Detail, 'metrics'> & { readonly last_24h: Pick<Detail['last_24h'], 'gap_seconds'> }

/**
 * The limit of a fresh device in `docs/statistics.md`. A metric that reports less often than its device is judged by
 * its own gaps.
 */
export function freshMs(metric: string, pace: Pace | undefined, gaps: Gaps | undefined): number {
  return 1000 * Math.max(freshSeconds(pace), rarerGapSeconds(metric, gaps))
}

function freshSeconds(pace: Pace | undefined): number {
  if (pace?.cadence === 'irregular' && pace.gap_threshold_seconds !== null) return pace.gap_threshold_seconds
  const seconds = pace?.expected_interval_seconds ?? expectedSecondsUsual
  return Math.max(2 * seconds, seconds + 60)
}

/** The gap of a metric that reports less often than its device; 0 for others. */
function rarerGapSeconds(metric: string, gaps: Gaps | undefined): number {
  const own = gaps?.metrics !== undefined && Object.hasOwn(gaps.metrics, metric) ? gaps.metrics[metric] : undefined
  const [ofMetric, ofDevice] = [own?.gap_seconds ?? 0, gaps?.last_24h.gap_seconds ?? Number.POSITIVE_INFINITY]
  return ofMetric > ofDevice ? ofMetric : 0
}
