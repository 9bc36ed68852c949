/** Findings about daily levels: a gauge that has had another level since some day. */

import { type ChangePoint, changePoints } from '../changes/change-points.ts'
import { type DailyLevels, dailyLevels } from '../changes/daily-levels.ts'
import { quantile } from '../summary/quantile.ts'
import { type Finding, noDetails } from './finding.ts'

const dayMs = 86_400_000
/** An older change counts as the normal level. */
const recentDays = 14
/** Above the test's own critical value, because a month is tested every day. */
const statisticMin = 2.6
/** In standard deviations of the daily levels before, and in steps of the sensor. */
const shiftDeviationsMin = 4
const shiftQuantaMin = 5
/** The width of the middle 80 % of a normal distribution, in standard deviations. */
const middleWidth = 2.563

export interface LevelInput {
  readonly metric: string
  /** Means of hours, NaN where missing. The first begins at `startMs`. */
  readonly hourly: Float64Array
  readonly localHours: Uint8Array
  readonly startMs: number
  /** The sensor's resolution; 0 while unknown. */
  readonly quantum: number
  /** True where the level should be constant. */
  readonly isControlled: boolean
}

/**
 * Finding of a gauge with a level of its own, unlike the weather's. Levels that come back are ignored, because
 * wandering ones would be found too often.
 */
export function levelFinding(input: LevelInput): Finding | undefined {
  const { hourly, localHours, isControlled } = input
  const levels = dailyLevels(hourly, localHours)
  const last = changePoints(levels, false).at(-1)
  if (last === undefined || (last.perDay === null && last.day < (levels.days.at(-1) as number) - recentDays))
    return undefined
  const level = newLevel(input, levels, last)
  return level && { ...noDetails, severity: isControlled ? 'warning' : 'info', ...level }
}

type NewLevel = Pick<Finding, 'metric' | 'sinceMs' | 'value' | 'expected'> & { readonly code: 'level_change' | 'ramp' }

/** All new levels, oldest first. */
export function newLevels(input: Omit<LevelInput, 'isControlled'>): NewLevel[] {
  const levels = dailyLevels(input.hourly, input.localHours)
  return changePoints(levels, false).flatMap(point => newLevel(input, levels, point) ?? [])
}

function newLevel(
  { metric, hourly, startMs, quantum }: Omit<LevelInput, 'isControlled'>,
  { days, means }: DailyLevels,
  { day, statistic, before, after, daysBefore, perDay }: ChangePoint,
): NewLevel | undefined {
  if (statistic < statisticMin) return undefined
  const at = days.indexOf(day)
  const deviation = deviationOf(means.subarray(at - daysBefore, at))
  const shift = Math.abs(after - before)
  if (shift < shiftDeviationsMin * deviation || shift < shiftQuantaMin * quantum) return undefined
  const offset = (hourly.length * (dayMs / 24)) % dayMs
  const sinceMs = startMs + offset + day * dayMs
  if (perDay !== null) return { code: 'ramp', metric, sinceMs, value: perDay, expected: null }
  return {
    code: 'level_change',
    metric,
    sinceMs,
    value: after,
    expected: [before - 2 * deviation, before + 2 * deviation],
  }
}

function deviationOf(means: Float64Array): number {
  return (quantile(means, 0.9) - quantile(means, 0.1)) / middleWidth
}
