/**
 * A reading, and the check that every reading passes on every way in.
 *
 * The check is written out instead of made from a schema, because it runs for each reading: a schema library took longer for it
 * than the credential check and the record together.
 */

import type { Metric } from '../store/tables.ts'
import {
  type CustomFields,
  isListedColumn,
  type OtherFields,
  otherFieldsOf,
  unknownFieldReason,
} from './custom-fields.ts'
import {
  batteryVolts,
  type Fields,
  isColumnField,
  percentageNames,
  shortenedName,
  spellingIn,
  voltageNames,
} from './field-names.ts'
import type { CustomValues } from './journal/record.ts'

/** One measurement of a device. NaN marks a missing value. */
export interface Reading {
  /** Time of measurement in epoch milliseconds, possibly with a fraction. Undefined for the time of receipt. */
  timestampMs: number | undefined
  /** °C */
  temperature: number
  /** % */
  humidity: number
  /** hPa */
  pressure: number
  /** V */
  battery_voltage: number
  /** % */
  battery_percentage: number
  /** Values of other metrics, by the number of the device's series. */
  custom?: CustomValues | undefined
}

/** A physical range. A value above `storedMax` but within the range is stored as `storedMax`. */
export interface Range {
  min: number
  max: number
  storedMax?: number
}

export interface Ranges {
  temperature: Range
  humidity: Range
  pressure: Range
  battery_voltage: Range
  battery_percentage: Range
}

export const defaultRanges: Ranges = {
  temperature: { min: -90, max: 85 },
  humidity: { min: 0, max: 103, storedMax: 100 },
  pressure: { min: 300, max: 1100 },
  battery_voltage: { min: 0, max: 100 },
  battery_percentage: { min: 0, max: 110, storedMax: 100 },
}

/** Reasons by the names of fields. */
export type Errors = Record<string, string>

export type Checked = {
  /** Fields without a column that may be values of metrics. They are not in the reading yet. */
  custom?: CustomFields | undefined
  /** Values that are left out of the reading. */
  outOfRange?: Errors | undefined
} & (
  | {
      ok: true
      reading: Reading
      /** Aliases used for columns and for the time. */
      aliases: readonly string[]
    }
  | { ok: false; errors: Errors }
)

/** Limits of the times that a client may send. */
export interface TimeLimits {
  /** Limit of times ahead of our clock. */
  aheadMsMax: number
  /** Earlier readings have expired. Default: the year 2000. Epoch milliseconds. */
  earliestMs?: (() => number) | undefined
}

export interface ReadingCheckOptions extends Partial<TimeLimits> {
  ranges?: Ranges
  /** Past times keep their microseconds, as a fraction. Otherwise all times are cut to the millisecond. */
  keepsMicroseconds?: boolean | undefined
  /** Fields without a column are collected. A reading may then have only such values. */
  collectsCustom?: boolean | undefined
}

/**
 * Checks the fields of one reading, which needs at least one value. A missing or null field is NaN. For a device with
 * a list of `metrics`, only listed columns are read.
 */
export type ReadingCheck = (fields: Fields, nowMs: number, metrics?: readonly string[] | null) => Checked

/** Older readings are rejected: a device whose clock was never set sends 1970. */
export const earliestTimeMs = Date.UTC(2000, 0, 1)
export const isoWithZone = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?([Zz]|[+-]\d{2}(:?\d{2})?)$/

const noAliases: readonly string[] = []

interface Faults {
  /** Any error rejects the reading. */
  errors: Errors | undefined
  outOfRange: Errors | undefined
}

export function createReadingCheck(options: ReadingCheckOptions = {}): ReadingCheck {
  const ranges = options.ranges ?? defaultRanges
  const { aheadMsMax = 5 * 60_000, earliestMs = () => earliestTimeMs, collectsCustom = false } = options

  function timeOf(fields: Fields, others: OtherFields | undefined, nowMs: number, faults: Faults): Time {
    const timestamp = fields['timestamp'] ?? null
    if (timestamp === null && (others === undefined || others.times.length === 0)) return noTime
    const exact =
      timestamp === null ? readOtherTimes(fields, others?.times ?? [], faults) : readTimestamp(timestamp, faults)
    return exact === undefined ? noTime : withinLimits(exact, nowMs, faults)
  }

  function withinLimits(exact: ExactTime, nowMs: number, faults: Faults): Time {
    // Our own stamps have microseconds, so a future time must not: it could equal one of them.
    const keepsFraction = options.keepsMicroseconds === true && exact.ms < nowMs
    const ms = keepsFraction ? exact.ms : Math.floor(exact.ms)
    const reason = timeReason(ms, earliestMs(), nowMs + aheadMsMax)
    if (reason === undefined) return { ms, names: exact.names }
    faults.errors = { ...faults.errors, [exact.names[0] ?? 'timestamp']: reason }
    return noTime
  }

  function read(
    fields: Fields,
    column: Metric,
    name: string,
    metrics: readonly string[] | null,
    faults: Faults,
  ): number {
    const value = fields[name]
    if (value === undefined || value === null) return Number.NaN
    if (!isListedColumn(metrics, column, name)) return Number.NaN
    if (typeof value !== 'number') {
      faults.errors = { ...faults.errors, [name]: noNumberReason }
      return Number.NaN
    }
    const isInMillivolts = column === 'battery_voltage' && !isColumnField(name)
    const stored = storedValue(isInMillivolts ? batteryVolts(value) : value, ranges[column])
    if (Number.isNaN(stored)) faults.outOfRange = { ...faults.outOfRange, [name]: rangeReason(ranges[column]) }
    return stored
  }

  return (fields, nowMs, metrics = null) => {
    const others = collectsCustom ? otherFieldsOf(fields, metrics) : undefined
    const columns = others?.columns
    const faults: Faults = { errors: undefined, outOfRange: undefined }
    const time = timeOf(fields, others, nowMs, faults)
    const voltage = columns?.battery_voltage ?? spellingIn(fields, voltageNames)
    const percentage = columns?.battery_percentage ?? spellingIn(fields, percentageNames)
    const reading: Reading = {
      timestampMs: time.ms,
      temperature: read(fields, 'temperature', columns?.temperature ?? 'temperature', metrics, faults),
      humidity: read(fields, 'humidity', columns?.humidity ?? 'humidity', metrics, faults),
      pressure: read(fields, 'pressure', columns?.pressure ?? 'pressure', metrics, faults),
      battery_voltage: read(fields, 'battery_voltage', voltage, metrics, faults),
      battery_percentage: read(fields, 'battery_percentage', percentage, metrics, faults),
    }
    const { outOfRange } = faults
    const custom = others?.custom
    if (faults.errors !== undefined) return { ok: false, errors: { ...faults.errors, ...outOfRange }, custom }
    if (custom === undefined && hasNoColumn(reading)) return { ok: false, errors: outOfRange ?? emptyErrors(metrics) }
    const aliases = others === undefined ? noAliases : [...others.aliases, ...time.names]
    return { ok: true, reading, custom, outOfRange, aliases }
  }
}

export const noNumberReason = 'must be a number or null'

/** Errors of a reading without a value. `metrics` is the device's list, and `unknown` a field that does not match a metric. */
export function emptyErrors(metrics: readonly string[] | null, unknown?: string): Errors {
  const reason = 'at least one metric must be a number'
  return {
    [metrics?.[0] ?? 'temperature']: unknown === undefined ? reason : `${reason}; ${unknownFieldReason(unknown)}`,
  }
}

/** Returns the stored value; NaN for one outside the range. */
export function storedValue(value: number, { min, max, storedMax }: Range): number {
  // This form also rejects NaN, which a binary format can carry.
  if (!(value >= min && value <= max)) return Number.NaN
  return storedMax !== undefined && value > storedMax ? storedMax : value
}

/** Reason of the values left out of a stored reading. */
export function leftOutReason(outOfRange: Errors): string {
  return `${sentenceOf(outOfRange)} (other values of the reading are stored)`
}

/** The errors of a check, as a sentence. */
export function sentenceOf(errors: Readonly<Errors>): string {
  return Object.entries(errors)
    .map(([field, reason]) => `${shortenedName(field)} ${reason}`)
    .join('; ')
}

export function rangeReason({ min, max }: Range): string {
  return `must be between ${min} and ${max}`
}

/** `ms` is undefined for the time of receipt. */
interface Time {
  readonly ms: number | undefined
  /** The fields with the time, except the documented name. */
  readonly names: readonly string[]
}

type ExactTime = Time & { readonly ms: number }

const noTime: Time = { ms: undefined, names: [] }
const timestampReason = 'must be ISO 8601 with a zone, or an epoch in s, ms, µs or ns'

function readTimestamp(value: unknown, faults: Faults): ExactTime | undefined {
  // A number that is not a time since 2000 in any unit is rejected as too early or too late.
  const ms = timeIn(value) ?? (typeof value === 'number' && Number.isFinite(value) ? value : undefined)
  if (ms !== undefined) return { ms, names: noAliases }
  faults.errors = { ...faults.errors, timestamp: timestampReason }
  return undefined
}

/** Fields that agree may be in seconds and in milliseconds. */
const agreeMs = 1000

/**
 * Reads the fields that can be a time and ignores others. Fields that disagree reject the reading, because guessing could store a
 * wrong time.
 */
function readOtherTimes(fields: Fields, names: readonly string[], faults: Faults): ExactTime | undefined {
  let found: { ms: number; names: string[] } | undefined
  for (const name of names) {
    const ms = timeIn(fields[name])
    if (ms === undefined) continue
    if (found === undefined) {
      found = { ms, names: [name] }
    } else if (Math.abs(found.ms - ms) >= agreeMs) {
      faults.errors = { ...faults.errors, [name]: `is another time than ${found.names[0]}` }
      return undefined
    } else {
      found.names.push(name)
      if (found.ms % 1000 === 0) found.ms = ms
    }
  }
  return found
}

/** Reason why a client's time is rejected. Undefined for a valid one. */
export function timeReason(timeMs: number, earliestMs: number, latestMs: number): string | undefined {
  if (timeMs < earliestTimeMs) return 'must not be before 2000-01-01 (a clock that is not set says 1970)'
  if (timeMs < earliestMs) return expiredReason(earliestMs)
  return timeMs > latestMs ? 'must not be in the future' : undefined
}

export function expiredReason(earliestMs: number): string {
  return `must not be before ${dayOf(earliestMs)}: older readings have expired`
}

function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10)
}

const secondsMin = earliestTimeMs / 1000
const secondsMax = Date.UTC(2100, 0, 1) / 1000
export const epochText = /^\d{9,19}$/

/**
 * Epoch milliseconds of an ISO 8601 text with a zone, or of a number. Numbers are seconds, milliseconds, microseconds or
 * nanoseconds of the years 2000 to 2099, which do not overlap. Microseconds become a fraction. Undefined for anything else.
 */
export function timeIn(value: unknown): number | undefined {
  if (typeof value === 'number') return epochMs(value)
  if (typeof value !== 'string') return undefined
  if (epochText.test(value)) return epochMs(Number(value))
  if (!isoWithZone.test(value)) return undefined
  const timeMs = Date.parse(normalizedIso(value))
  if (Number.isNaN(timeMs) || !isCalendarDay(value)) return undefined
  const [, microseconds = ''] = /[.,]\d{3}(\d{1,3})/.exec(value) ?? []
  return timeMs + Number(microseconds.padEnd(3, '0')) / 1000
}

function epochMs(value: number): number | undefined {
  if (value >= secondsMin * 1000 && value < secondsMax * 1000) return value
  if (value >= secondsMin && value < secondsMax) return Math.round(value * 1e6) / 1000
  if (value >= secondsMin * 1e6 && value < secondsMax * 1e6) return value / 1000
  if (value >= secondsMin * 1e9 && value < secondsMax * 1e9) return Math.floor(value / 1000) / 1000
  return undefined
}

/** Converts forms of ISO 8601 that `Date.parse` does not accept: a comma, a blank, a zone without colon or minutes. */
function normalizedIso(text: string): string {
  return text
    .replace(',', '.')
    .replace(' ', 'T')
    .replace(/([+-]\d{2})$/, (zone, _hours, offset: number) => (offset > 10 ? `${zone}:00` : zone))
    .replace(/([+-]\d{2})(\d{2})$/, '$1:$2')
    .replace(/(\.\d{3})\d+/, '$1')
    .toUpperCase()
}

/** `Date.parse` accepts 2026-02-30 as 2 March; here it is an error. */
function isCalendarDay(text: string): boolean {
  const year = Number(text.slice(0, 4))
  const month = Number(text.slice(5, 7))
  const day = Number(text.slice(8, 10))
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}

/** True when all columns are empty. */
export function hasNoColumn(reading: Reading): boolean {
  return (
    Number.isNaN(reading.temperature) &&
    Number.isNaN(reading.humidity) &&
    Number.isNaN(reading.pressure) &&
    Number.isNaN(reading.battery_voltage) &&
    Number.isNaN(reading.battery_percentage)
  )
}
