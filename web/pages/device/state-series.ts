/** States over a range: a timeline of the last day and of short ranges, and of longer ones the shares of hours and days. */

import type { RangeReadings } from '../../../api/read/shapes.ts'
import type { DailySummary } from '../../../query/shapes/daily.ts'
import type { Stretch } from '../../charts/panel.ts'
import type { Zone } from '../../text/zone.ts'
import { type Detail, dayOf, type Figures, type HourOf, hoursOf } from './answers.ts'
import { stretchOf } from './kind-series.ts'
import { column, dayPoints, gapMsOf, type LiveReading, type StateBlock, type StateSeries } from './series.ts'

/** The time for which a state holds. */
export interface Hold {
  /** The longest distance to a next value up to which the state holds; null: any. */
  readonly gapMs: number | null
  /** The time for which the last value holds. */
  readonly holdMs: number
}

const hourMs = 3_600_000

/** The hold of a state according to `detail_data`. A quarter of an hour until it has arrived. */
export function holdOf(detail: Detail | undefined, metric: string): Hold {
  const holdMs = (detail?.metrics?.[metric]?.hold_seconds ?? 900) * 1000
  return { gapMs: detail === undefined ? holdMs : gapMsOf(detail, metric), holdMs }
}

/** The last block ends at `untilMs`, which is not before the last value. */
export function timeline(
  { timesMs, values }: { readonly timesMs: readonly number[]; readonly values: readonly number[] },
  { gapMs, holdMs }: Hold,
  untilMs: number,
): StateBlock[] {
  const blocks: StateBlock[] = []
  for (const [place, fromMs] of timesMs.entries()) {
    const nextMs = timesMs[place + 1] ?? Math.max(untilMs, fromMs)
    const isJoined = gapMs === null || nextMs - fromMs <= gapMs
    add(blocks, { fromMs, toMs: isJoined ? nextMs : fromMs + holdMs, state: values[place] as number, low: 0, high: 1 })
  }
  return blocks
}

/** Joins consecutive blocks of the same state. */
function add(blocks: StateBlock[], block: StateBlock): void {
  const last = blocks.at(-1)
  if (block.toMs <= block.fromMs) return
  if (last?.state === block.state && last.toMs === block.fromMs)
    blocks[blocks.length - 1] = { ...last, toMs: block.toMs }
  else blocks.push(block)
}

/** The states of the last day and of live readings. Before the first value, the hours show the state. */
export function statesOfDay(
  detail: Detail,
  metric: string,
  live: readonly LiveReading[],
  window: { readonly fromMs: number; readonly untilMs: number },
): StateSeries {
  const points = dayPoints(detail, metric, live)
  const untilMs = Math.max(window.untilMs, points.timesMs.at(-1) ?? 0)
  const blocks: StateBlock[] = []
  for (const block of leading(hoursOf<'state'>(detail, metric), window.fromMs, points.timesMs[0] ?? untilMs)) {
    add(blocks, block)
  }
  for (const block of timeline(points, holdOf(detail, metric), untilMs)) add(blocks, block)
  return { kind: 'state', metric, blocks, isShares: false }
}

/**
 * Returns the blocks before the first value of the day: hours of one state were in that state. The hour of the first
 * value began with the state before it, if all of it is known.
 */
function leading(hours: readonly HourOf<'state'>[], fromMs: number, firstMs: number): StateBlock[] {
  const blocks: StateBlock[] = []
  let before: HourOf<'state'> | undefined
  for (const hour of hours) {
    if (hour.t >= firstMs) break
    const isFirst = hour.t + hourMs > firstMs
    const state = isFirst ? stateBefore(hour, before) : onlyState(hour)
    const toMs = isFirst ? firstMs : hour.t + hour.known_seconds * 1000
    if (state !== undefined && toMs > fromMs) {
      add(blocks, { fromMs: Math.max(hour.t, fromMs), toMs, state, low: 0, high: 1 })
    }
    before = hour
  }
  return blocks
}

/** The state that fills the known part of an hour; undefined for several. */
function onlyState({ states }: HourOf<'state'>): number | undefined {
  return states.length === 1 ? states[0]?.state : undefined
}

/** The state at the beginning of an hour. */
function stateBefore({ t, unknown_seconds }: HourOf<'state'>, before: HourOf<'state'> | undefined): number | undefined {
  const isJoined = before !== undefined && before.t + hourMs === t && unknown_seconds + before.unknown_seconds === 0
  return isJoined ? onlyState(before) : undefined
}

/** Reads buckets before the range, too, since their state may still hold. `hold` applies to single values. */
export function statesOfSteps(
  rows: RangeReadings,
  metric: string,
  stepMs: number,
  hold: Hold,
  window: { readonly fromMs: number; readonly untilMs: number },
): StateSeries {
  const blocks = timeline(column(rows, `${metric}_last`), ofBuckets(hold, stepMs), window.untilMs)
  return { kind: 'state', metric, blocks: blocks.filter(({ toMs }) => toMs > window.fromMs), isShares: false }
}

/** The next bucket is a step away, and the last one of its values is known for all of it. */
function ofBuckets({ gapMs, holdMs }: Hold, stepMs: number): Hold {
  return { gapMs: gapMs === null ? null : Math.max(gapMs, 1.5 * stepMs), holdMs: Math.max(holdMs, stepMs) }
}

export function statesOfHours(detail: Detail, metric: string): StateSeries {
  const blocks = hoursOf<'state'>(detail, metric).flatMap(hour =>
    shares(hour, { fromMs: hour.t, toMs: hour.t + hourMs }),
  )
  return { kind: 'state', metric, blocks, isShares: true }
}

export function statesOfDays(days: DailySummary['days'], metric: string, zone: Zone): StateSeries {
  const blocks = days.flatMap(day => {
    const figures = dayOf<'state'>(day, metric)
    return figures === undefined ? [] : shares(figures, stretchOf(day, zone))
  })
  return { kind: 'state', metric, blocks, isShares: true }
}

/** One above the other, the lowest state at the bottom. */
function shares({ states }: Pick<Figures<'state'>, 'states'>, { fromMs, toMs }: Stretch): StateBlock[] {
  const wholeSeconds = (toMs - fromMs) / 1000
  let low = 0
  return states
    .toSorted((a, b) => a.state - b.state)
    .map(({ state, seconds }) => {
      const high = Math.min(1, low + seconds / wholeSeconds)
      const block = { fromMs, toMs, state, low, high }
      low = high
      return block
    })
}
