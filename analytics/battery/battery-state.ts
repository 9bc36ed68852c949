/** The state of a battery from the daily means of its voltage or charge: its remaining days, or a low charge. */

import { median } from 'simple-statistics'
import { type CellType, chargeOf, curveError, fullVoltage, voltageOf } from './curves.ts'
import { type DailyMean, errorsOf, independentErrorsOf, lineOf } from './line.ts'

export interface BatteryOf {
  readonly kind: 'voltage' | 'charge'
  /** Null when none is configured. */
  readonly type: CellType | null
  /** Number of cells in series; null for one. */
  readonly cells: number | null
}

export type BatteryState =
  | {
      readonly kind: 'days'
      /** Counted from the last day. */
      readonly daysLeft: number
      /** The 95 % interval, widened by the error of the curve. Its lower end is where 15 % are left. */
      readonly low: number
      readonly high: number
      /** Percent of the charge a day, negative. */
      readonly perDay: number
      /** The unit is percent. */
      readonly charge: number
    }
  | {
      readonly kind: 'level'
      /** The last daily mean, in volts or percent. */
      readonly value: number
      /** The unit is volts or percent. Null when a fast fall raised the alarm. */
      readonly alarmBelow: number | null
      readonly sinceDay: number
    }

/** An extrapolation of 30 days is not reported beyond this. */
const daysMax = 90
const windowDays = 30
/** The drain of these last days counts where it is faster. */
const recentDays = 10
/** The unit is percent. */
const lowCharge = 15
/** A rise from one day to the next that means a charge or a replacement: in percent, and as a share of the voltage. */
const jumpCharge = 15
const jumpVoltage = 0.04
/** Error of a charge reported by the device, in percent. */
const chargeError = 3
/** A smaller fall over all days is noise or a rounding step, in percent. */
const chargeFallMin = 2
/** A margin for cells that differ from their curve, so that their date is not too late. */
const intervalError = 0.05
/** Temperature moves the voltage of a cell by this much. */
const temperatureVolts = 0.03
/** A voltage above this multiple of a full cell's contradicts the configured type and number. */
const fullMax = 1.15

/**
 * `days`: at most 30, ascending, in volts or percent. Undefined for too few days, without a significant fall, or with
 * an end further away than 90 days.
 */
export function batteryState(days: readonly DailyMean[], { kind, type, cells }: BatteryOf): BatteryState | undefined {
  return kind === 'charge' ? chargeState(days, type) : voltageState(days, type, cells ?? 1)
}

/** The source of the charge is unknown without a type. Most devices derive it from the voltage, along a line. */
function chargeState(days: readonly DailyMean[], type: CellType | null): BatteryState | undefined {
  const since = sinceJump(days, (from, to) => to - from > jumpCharge)
  const last = since.at(-1)
  if (last === undefined) return undefined
  const level = levelState(since, last, lowCharge)
  if (level !== undefined || type === null) return level
  const hasFallen = (part: readonly DailyMean[]) => fallOf(part) >= chargeFallMin
  const moved = (by: number) => (value: number) => value - by
  return daysState(since, [moved(0), moved(chargeError), moved(-chargeError)], hasFallen)
}

function voltageState(days: readonly DailyMean[], type: CellType | null, cells: number): BatteryState | undefined {
  const since = sinceJump(days, (from, to) => to - from > jumpVoltage * from)
  const last = since.at(-1)
  if (last === undefined) return undefined
  const highest = days.reduce((max, { mean }) => Math.max(max, mean), 0)
  if (type === null || highest > fullMax * cells * fullVoltage(type)) {
    const alarm = levelAlarm(days, since)
    return alarm && { kind: 'level', ...alarm }
  }
  const charge = (volts: number) => chargeOf(type, volts / cells)
  const hasFallen = (part: readonly DailyMean[]) => {
    const swing = charge(last.mean + temperatureVolts * cells) - charge(last.mean)
    return fallOf(charged(part, charge)) >= Math.max(chargeFallMin, swing)
  }
  const curve = (share: number) => (volts: number) => charge(volts / share)
  // A cell that is off its curve must not raise an alarm at 30 %.
  const low = voltageOf(type, lowCharge) * cells * (1 - curveError)
  const level = levelState(since, last, low)
  if (level !== undefined) return level
  const state = daysState(since, [curve(1), curve(1 + intervalError), curve(1 - intervalError)], hasFallen)
  const isLow = state?.kind === 'days' && state.charge < lowCharge
  return isLow ? levelState(since, last, voltageOf(type, lowCharge) * cells) : state
}

function levelState(since: readonly DailyMean[], last: DailyMean, alarmBelow: number): BatteryState | undefined {
  if (!(last.mean < alarmBelow)) return undefined
  return { kind: 'level', value: last.mean, ...belowSince(since, alarmBelow) }
}

type Curve = (value: number) => number

/**
 * The first curve gives the estimate. The interval includes the estimates of the others, which differ from it by the
 * error of curves.
 */
function daysState(
  since: readonly DailyMean[],
  [believed, ...others]: readonly [Curve, ...Curve[]],
  hasFallen: (days: readonly DailyMean[]) => boolean,
): BatteryState | undefined {
  const last = since.at(-1)
  if (last === undefined) return undefined
  const ends = [windowDays, recentDays].flatMap(length => {
    const days = since.filter(({ day }) => day > last.day - length)
    const limits = { end: 0, daysMax, isIndependent: length === recentDays }
    const found = hasFallen(days) ? batteryDays(charged(days, believed), limits) : undefined
    return found === undefined ? [] : [{ days, found }]
  })
  const [soonest] = ends.sort((a, b) => a.found.perDay - b.found.perDay)
  if (soonest === undefined) return undefined
  // The fall of a battery off its curve is not a line, which makes the days' residuals dependent.
  const ofOthers = { end: 0, daysMax: Number.MAX_VALUE, isIndependent: true }
  const intervals = [
    soonest.found,
    ...others.flatMap(curve => batteryDays(charged(soonest.days, curve), ofOthers) ?? []),
  ]
  // Below it a cell may end within days, whatever the line predicts.
  const lows = [believed, ...others].flatMap(curve => {
    return batteryDays(charged(soonest.days, curve), { ...ofOthers, end: lowCharge }) ?? []
  })
  return {
    kind: 'days',
    daysLeft: soonest.found.daysLeft,
    low: Math.min(...intervals.map(({ low }) => low), ...lows.map(({ low }) => low)),
    high: Math.max(...intervals.map(({ high }) => high)),
    perDay: soonest.found.perDay,
    charge: Math.max(0, believed(last.mean)),
  }
}

function charged(days: readonly DailyMean[], curve: Curve): DailyMean[] {
  return days.map(({ day, mean }) => ({ day, mean: curve(mean) }))
}

/** The fall of the line through them, from the first day to the last. */
function fallOf(days: readonly DailyMean[]): number {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined || days.length < 2) return 0
  return -lineOf(days).slope * (last.day - first.day)
}

interface BatteryDays {
  /** Days from the last one until the line reaches the end; 0 if it has already. */
  readonly daysLeft: number
  /** The 95 % interval. */
  readonly low: number
  readonly high: number
  /** Negative. */
  readonly perDay: number
}

interface BatteryLimits {
  /** The value of an empty battery. */
  readonly end: number
  /** A longer time is not reported. */
  readonly daysMax: number
  /** The days are too few to estimate their autocorrelation. */
  readonly isIndependent?: boolean
}

const daysMin = 7

/** `days` begin after the last jump. Undefined for fewer than seven, and where the slope's interval is not below 0. */
export function batteryDays(
  days: readonly DailyMean[],
  { end, daysMax, isIndependent = false }: BatteryLimits,
): BatteryDays | undefined {
  const last = days.at(-1)
  if (last === undefined || days.length < daysMin) return undefined
  const line = lineOf(days)
  const { meanDay, meanValue, slope } = line
  const above = meanValue - end
  const left = (fall: number) => Math.max(0, fall / -slope - (last.day - meanDay))
  // Checked before the errors, which take longer: most batteries end here.
  if (!(slope < 0) || left(above) > daysMax) return undefined
  const { slopeError, meanError } = isIndependent ? independentErrorsOf(line) : errorsOf(line, days)
  // The interval has no upper end unless both ends of the slope are negative.
  if (!(slope + slopeError < 0)) return undefined
  const share = (slopeError / slope) ** 2
  const width = Math.sqrt(share * above ** 2 + (1 - share) * meanError ** 2)
  return {
    daysLeft: left(above),
    low: left((above - width) / (1 - share)),
    high: left((above + width) / (1 - share)),
    perDay: slope,
  }
}

/**
 * Days after the last rise by more than `rise`, which means a charge or a replacement. The day of the rise is left out,
 * because its mean covers both charges.
 */
export function sinceJump(
  days: readonly DailyMean[],
  isJump: (from: number, to: number) => boolean,
): readonly DailyMean[] {
  const at = days.findLastIndex(({ mean }, index) => index > 0 && isJump(days[index - 1]?.mean ?? mean, mean))
  return days.slice(at + 1)
}

interface LevelAlarm {
  /** The last daily mean, in volts. */
  readonly value: number
  /** The unit is volts. Null when a fast fall raised the alarm. */
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
function levelAlarm(days: readonly DailyMean[], since: readonly DailyMean[]): LevelAlarm | undefined {
  const last = since.at(-1)
  if (last === undefined) return undefined
  const highest = days.reduce((max, { mean }) => Math.max(max, mean), 0)
  const kind = kinds.find(({ from, to }) => highest >= from && highest < to)
  if (kind !== undefined && last.mean < kind.below) return { ...belowSince(since, kind.below), value: last.mean }
  if (last.mean > (kind?.full ?? Number.POSITIVE_INFINITY) || !fallsFast(since)) return undefined
  return { value: last.mean, alarmBelow: null, sinceDay: last.day - weekDays + 1 }
}

function belowSince(since: readonly DailyMean[], alarmBelow: number): { alarmBelow: number; sinceDay: number } {
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
