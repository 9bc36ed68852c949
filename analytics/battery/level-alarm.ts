/**
 * Detects that a battery of unknown type runs low: its voltage is below the level at which such cells have about 15 %
 * of their charge left, or it falls faster than before. Without the type, the day on which it is empty is unknown.
 */

import { median } from 'simple-statistics'
import { type DailyMean, independentErrorsOf, lineOf } from './line.ts'

export interface LevelAlarm {
  /** The last daily mean, in volts. */
  readonly value: number
  /** In volts; null when a fast fall raised the alarm. */
  readonly alarmBelow: number | null
  /** First day of the alarm. */
  readonly sinceDay: number
}

/**
 * Chosen by the highest daily mean of 30 days: lithium-ion; lithium thionyl chloride; lithium manganese dioxide or
 * lithium iron phosphate, with up to 3.5 V when full; zinc or nickel. Above `full`, a fall means a new cell.
 */
const kinds = [
  { from: 3.75, to: 4.5, below: 3.71, full: 4 },
  { from: 3.55, to: 3.75, below: 3.45, full: Number.POSITIVE_INFINITY },
  { from: 2.6, to: 3.55, below: 2.45, full: Number.POSITIVE_INFINITY },
  { from: 1.2, to: 1.7, below: 1.12, full: 1.4 },
]

const weekDays = 7
/** Daily means required of a week's seven. */
const weekMeansMin = 5
/** The week's fall divided by the median of the earlier weeks' falls. */
const accelerationMin = 3
/** Share of the voltage, in a week. */
const weekFallMin = 0.02
/**
 * Share of the voltage, in two weeks: a battery that falls so fast is empty in one to two months, whatever its type.
 */
const fortnightFallMin = 0.04
/** Share of the previous week's fall. A fall that slows down more indicates a new battery. */
const settlingMax = 0.5

/** `since` has the entries of `days` since the last jump, in volts. */
export function levelAlarm(days: readonly DailyMean[], since: readonly DailyMean[]): LevelAlarm | undefined {
  const last = since.at(-1)
  if (last === undefined) return undefined
  const highest = days.reduce((max, { mean }) => Math.max(max, mean), 0)
  const kind = kinds.find(({ from, to }) => highest >= from && highest < to)
  if (kind !== undefined && last.mean < kind.below) return { ...belowSince(since, kind.below), value: last.mean }
  if (last.mean > (kind?.full ?? Number.POSITIVE_INFINITY) || !fallsFast(since)) return undefined
  return { value: last.mean, alarmBelow: null, sinceDay: last.day - weekDays + 1 }
}

export function belowSince(since: readonly DailyMean[], alarmBelow: number): { alarmBelow: number; sinceDay: number } {
  const above = since.findLastIndex(({ mean }) => mean >= alarmBelow)
  return { alarmBelow, sinceDay: since[above + 1]?.day ?? 0 }
}

function fallsFast(since: readonly DailyMean[]): boolean {
  const [now, ...before] = weeksOf(since)
  if (now === undefined) return false
  const line = lineOf(now)
  const { slopeError } = independentErrorsOf(line)
  const fall = (-line.slope * weekDays) / line.meanValue
  if (!(line.slope + slopeError < 0) || before.length === 0) return false
  const slopes = before.map(week => lineOf(week).slope)
  if (fall >= weekFallMin && line.slope < accelerationMin * median(slopes)) return true
  const earlier = slopes[0] as number
  const fortnight = fall + (-earlier * weekDays) / line.meanValue
  return fortnight >= fortnightFallMin && (fall >= weekFallMin || line.slope <= settlingMax * earlier)
}

/** The weeks that end with the last day, latest first, until one has too few days. */
function weeksOf(since: readonly DailyMean[]): DailyMean[][] {
  const last = since.at(-1)?.day ?? 0
  const weeks: DailyMean[][] = []
  for (let to = last; ; to -= weekDays) {
    const week = since.filter(({ day }) => day > to - weekDays && day <= to)
    if (week.length < weekMeansMin) return weeks
    weeks.push(week)
  }
}
