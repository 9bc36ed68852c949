/** A point of an air-quality station, and the check that every point passes on every way in. */

import { catalogueEntry } from '../store/metrics/catalogue.ts'
import { pointUnits } from '../store/tables.ts'
import { ReadTime, readTimeText } from '../store/time-text.ts'
import type { Fields } from './field-names.ts'

type Unit = (typeof pointUnits)[number]

/** A point in the journal, besides its series. */
export interface PointValues {
  /** Time of measurement in epoch milliseconds. */
  timestampMs: number
  value: number
  storedAtUs: number
}

/** Its series is not known yet. */
interface Point {
  /** The time is in whole seconds. */
  timestampMs: number
  parameter: string
  unit: Unit
  value: number
}

type Errors = Record<string, string>
type Checked = { ok: true; point: Point } | { ok: false; errors: Errors }

export type PointCheck = (fields: Fields, nowMs: number) => Checked

/** The ids of points count from here. */
const earliestMs = Date.UTC(2000, 0, 1)
const parameterCharactersMax = 16

/** `aheadMsMax`: limit of times ahead of our clock. */
export function createPointCheck(aheadMsMax: number): PointCheck {
  return (fields, nowMs) => {
    const errors: Errors = {}
    const point = {
      timestampMs: readTimestamp(fields['timestamp'], nowMs + aheadMsMax, errors),
      parameter: readParameter(fields['parameter'], errors),
      unit: readUnit(fields['unit'], errors),
      value: readValue(fields['value'], errors),
    }
    checkRange(point, errors)
    for (const _ in errors) return { ok: false, errors }
    return { ok: true, point }
  }
}

function readTimestamp(value: unknown, latestMs: number, errors: Errors): number {
  const timeMs = readTimeMs(value)
  if (timeMs === undefined) {
    errors['timestamp'] = value === undefined ? 'is required' : 'must be an ISO 8601 time, as 2026-01-31T12:00:00'
  } else if (timeMs % 1000 !== 0) {
    errors['timestamp'] = 'must be a whole second'
  } else if (timeMs < earliestMs) {
    errors['timestamp'] = 'must not be before 2000-01-01'
  } else if (timeMs > latestMs) {
    errors['timestamp'] = 'must not be in the future'
  } else {
    return timeMs
  }
  return 0
}

function readTimeMs(value: unknown): number | undefined {
  if (value instanceof ReadTime) return value.ms
  const timeUs = typeof value === 'string' ? readTimeText(value) : undefined
  return timeUs === undefined ? undefined : timeUs / 1000
}

/** The registry knows the parameters of a station. */
function readParameter(value: unknown, errors: Errors): string {
  if (typeof value === 'string' && value !== '' && value.length <= parameterCharactersMax) return value
  errors['parameter'] =
    value === undefined ? 'is required' : `must be a text of 1 to ${parameterCharactersMax} characters`
  return ''
}

function readUnit(value: unknown, errors: Errors): Unit {
  const unit = pointUnits.find(name => name === value)
  if (unit !== undefined) return unit
  errors['unit'] = value === undefined ? 'is required' : `must be one of ${pointUnits.join(', ')}`
  return pointUnits[0]
}

function readValue(value: unknown, errors: Errors): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  errors['value'] = value === undefined ? 'is required' : 'must be a number'
  return 0
}

interface Range {
  readonly min: number
  readonly max: number
}

/** Ranges of the catalogue, in each unit of points. Codes for missing values, such as -999, are outside. */
const ranges = new Map<string, Range | undefined>()

/** Checks a point whose other fields are read. */
function checkRange({ parameter, unit, value }: Omit<Point, 'timestampMs'>, errors: Errors): void {
  const key = `${parameter} ${unit}`
  // Texts outside the catalogue are not cached.
  const range = ranges.get(key) ?? rangeOf(parameter, unit)
  if (range === undefined) return
  ranges.set(key, range)
  if (value < range.min || value > range.max) {
    errors['value'] ??= `must be from ${range.min} to ${range.max} ${unit} for ${parameter}`
  }
}

/** Masses are in g/mol. */
const molarMasses: Readonly<Record<string, number>> = { so2: 64.06, o3: 48, no2: 46.01, no: 30.01, co: 28.01 }
/** Molar volume of a gas at 25 °C and 1013.25 hPa, the conditions at which gas analysers state masses. */
const litresPerMole = 24.45
const billionths: Readonly<Record<string, number>> = { ppb: 1, ppm: 1000 }

function rangeOf(parameter: string, unit: Unit): Range | undefined {
  const entry = catalogueEntry(parameter)
  if (entry === undefined || entry.name !== parameter) return undefined
  const { min, max } = entry
  const factor = factorBetween(parameter, entry.unit ?? '', unit)
  const inUnit = (bound: number) => Number((bound * factor).toPrecision(4))
  return {
    min: min === null ? Number.NEGATIVE_INFINITY : inUnit(min),
    max: max === null ? Number.POSITIVE_INFINITY : inUnit(max),
  }
}

/** Factor between units of the same quantity; 1 for parameters without a share of the air, such as particles. */
function factorBetween(parameter: string, from: string, to: Unit): number {
  const share = billionths[from]
  if (share === undefined) return 1
  const ofTo = billionths[to]
  return ofTo === undefined ? (share * (molarMasses[parameter] ?? litresPerMole)) / litresPerMole : share / ofTo
}
