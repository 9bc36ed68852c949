/**
 * A reading, and the one check that every reading passes, by whichever way it comes in.
 *
 * The check is written out instead of made from a schema, because it runs for each reading: a schema library took
 * longer for it than the credential check and the record together.
 */

import { type Fields, percentageNames, spellingIn, voltageNames } from './field-names.ts'
import { type FurtherFields, furtherFieldsOf, unknownFieldReason } from './further-fields.ts'
import type { FurtherValues } from './journal/record.ts'

/** One measurement of a device. NaN means that the device did not give the value. */
export interface Reading {
  /** Time of measurement in epoch milliseconds, perhaps with a fraction; undefined when it is the moment of receipt. */
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
  /** Of other metrics, by the number of the device's series of each. */
  further?: FurtherValues | undefined
}

/** A physical range; a value above `storedMax` but within the range is stored as `storedMax`. */
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

export type Errors = Record<string, string>

/** `further`: fields without a column that may be values of metrics, which are not in the reading yet. */
export type Checked = { further?: FurtherFields | undefined } & (
  | { ok: true; reading: Reading }
  | { ok: false; errors: Errors }
)

/** Which times a client may give. */
export interface TimeLimits {
  /** How far ahead of our clock. */
  aheadMsMax: number
  /** No earlier ones, since readings before this moment have expired; without it the year 2000. Epoch milliseconds. */
  earliestMs?: (() => number) | undefined
}

export interface ReadingCheckOptions extends Partial<TimeLimits> {
  ranges?: Ranges
  /** Whether times that have passed keep their microseconds, as a fraction. Otherwise all are cut to the millisecond. */
  keepsMicroseconds?: boolean | undefined
  /** Whether fields without a column are collected. Then a reading may have values of those alone. */
  collectsFurther?: boolean | undefined
}

/**
 * Checks the fields of one reading, which needs one value at least: a field that is missing or null is NaN. Of a device with
 * a list of `metrics`, columns that are not listed are not read.
 */
export type ReadingCheck = (fields: Fields, nowMs: number, metrics?: readonly string[] | null) => Checked

/** No reading is older: a device whose clock was never set says 1970. */
export const earliestTimeMs = Date.UTC(2000, 0, 1)
/** A number from here on that is too early in milliseconds is meant as seconds, up to the year 2100. */
const secondsMin = earliestTimeMs / 1000
const secondsMax = Date.UTC(2100, 0, 1) / 1000
export const isoWithZone = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?([Zz]|[+-]\d{2}(:?\d{2})?)$/

export function createReadingCheck(options: ReadingCheckOptions = {}): ReadingCheck {
  const ranges = options.ranges ?? defaultRanges
  const { aheadMsMax = 5 * 60_000, earliestMs = () => earliestTimeMs, collectsFurther = false } = options
  // Our own stamps have microseconds, so a time to come must not: one of them could meet it.
  const finerBeforeMs = (nowMs: number) => (options.keepsMicroseconds === true ? nowMs : Number.NEGATIVE_INFINITY)

  function read(
    fields: Fields,
    column: keyof Ranges,
    name: string,
    metrics: readonly string[] | null,
    errors: Errors,
  ): number {
    const value = fields[name]
    if (value === undefined || value === null || metrics?.includes(column) === false) return Number.NaN
    if (typeof value !== 'number') {
      errors[name] = noNumberReason
      return Number.NaN
    }
    const stored = storedValue(value, ranges[column])
    if (Number.isNaN(stored)) errors[name] = rangeReason(ranges[column])
    return stored
  }

  return (fields, nowMs, metrics = null) => {
    const errors: Errors = {}
    const timestamp = fields['timestamp']
    const voltage = spellingIn(fields, voltageNames)
    const percentage = spellingIn(fields, percentageNames)
    const reading: Reading = {
      timestampMs:
        timestamp === undefined || timestamp === null
          ? undefined
          : readTimestamp(timestamp, finerBeforeMs(nowMs), [earliestMs(), nowMs + aheadMsMax], errors),
      temperature: read(fields, 'temperature', 'temperature', metrics, errors),
      humidity: read(fields, 'humidity', 'humidity', metrics, errors),
      pressure: read(fields, 'pressure', 'pressure', metrics, errors),
      battery_voltage: read(fields, 'battery_voltage', voltage, metrics, errors),
      battery_percentage: read(fields, 'battery_percentage', percentage, metrics, errors),
    }
    const further = collectsFurther ? furtherFieldsOf(fields) : undefined
    for (const _ in errors) return { ok: false, errors, further }
    if (further === undefined && hasNoColumn(reading)) return { ok: false, errors: emptyErrors(metrics) }
    return { ok: true, reading, further }
  }
}

export const noNumberReason = 'must be a number or null'

/** Of a reading without a value; `metrics` is the list of its device, and `unknown` a field of it that stands for no metric. */
export function emptyErrors(metrics: readonly string[] | null, unknown?: string): Errors {
  const reason = 'at least one metric must be a number'
  return {
    [metrics?.[0] ?? 'temperature']: unknown === undefined ? reason : `${reason}; ${unknownFieldReason(unknown)}`,
  }
}

/** What is stored for a value; NaN for one outside the range. */
export function storedValue(value: number, { min, max, storedMax }: Range): number {
  // Written so that NaN fails too: a binary format can carry one.
  if (!(value >= min && value <= max)) return Number.NaN
  return storedMax !== undefined && value > storedMax ? storedMax : value
}

export function rangeReason({ min, max }: Range): string {
  return `must be between ${min} and ${max}`
}

function readTimestamp(
  value: unknown,
  finerBeforeMs: number,
  [earliestMs, latestMs]: readonly [number, number],
  errors: Errors,
): number | undefined {
  const exactMs = parseTimestampMs(value)
  const timeMs = exactMs === undefined || exactMs < finerBeforeMs ? exactMs : Math.floor(exactMs)
  if (timeMs === undefined) {
    errors['timestamp'] = 'must be ISO 8601 with a zone, or epoch milliseconds'
  } else if (typeof value === 'number' && value >= secondsMin && value < secondsMax) {
    errors['timestamp'] = 'looks like seconds; send milliseconds'
  } else {
    const reason = timeReason(timeMs, earliestMs, latestMs)
    if (reason === undefined) return timeMs
    errors['timestamp'] = reason
  }
  return undefined
}

/** Why a client's time is not taken; undefined for one that is. */
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

/** Epoch milliseconds of an ISO 8601 text with a zone or of a number, microseconds as a fraction. Undefined when neither. */
function parseTimestampMs(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string' || !isoWithZone.test(value)) return undefined
  const timeMs = Date.parse(normalizedIso(value))
  if (Number.isNaN(timeMs) || !isCalendarDay(value)) return undefined
  const [, microseconds = ''] = /[.,]\d{3}(\d{1,3})/.exec(value) ?? []
  return timeMs + Number(microseconds.padEnd(3, '0')) / 1000
}

/** The forms of ISO 8601 that `Date.parse` does not know: a comma, a blank, a zone without colon or minutes. */
function normalizedIso(text: string): string {
  return text
    .replace(',', '.')
    .replace(' ', 'T')
    .replace(/([+-]\d{2})$/, (zone, _hours, offset: number) => (offset > 10 ? `${zone}:00` : zone))
    .replace(/([+-]\d{2})(\d{2})$/, '$1:$2')
    .replace(/(\.\d{3})\d+/, '$1')
    .toUpperCase()
}

/** `Date.parse` takes 2026-02-30 for the second of March; here it is an error. */
function isCalendarDay(text: string): boolean {
  const year = Number(text.slice(0, 4))
  const month = Number(text.slice(5, 7))
  const day = Number(text.slice(8, 10))
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate()
}

/** Whether none of the columns has a value. */
export function hasNoColumn(reading: Reading): boolean {
  return (
    Number.isNaN(reading.temperature) &&
    Number.isNaN(reading.humidity) &&
    Number.isNaN(reading.pressure) &&
    Number.isNaN(reading.battery_voltage) &&
    Number.isNaN(reading.battery_percentage)
  )
}
