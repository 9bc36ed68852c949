/** A point of an air-quality station, and the one check that every point passes, by whichever way it comes in. */

import { pointUnits } from '../store/tables.ts'
import type { Fields } from './field-names.ts'
import { ReadTime } from './formats/iso-time.ts'
import { readTimeText } from './formats/time-text.ts'

type Unit = (typeof pointUnits)[number]

/** What a point is in the journal besides its series. */
export interface PointValues {
  /** Time of measurement in epoch milliseconds. */
  timestampMs: number
  value: number
  storedAtUs: number
}

/** Whose series is not known yet. */
interface Point {
  /** In whole seconds. */
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

/** `aheadMsMax`: how far ahead of our clock a time may be. */
export function createPointCheck(aheadMsMax: number): PointCheck {
  return (fields, nowMs) => {
    const errors: Errors = {}
    const point = {
      timestampMs: readTimestamp(fields['timestamp'], nowMs + aheadMsMax, errors),
      parameter: readParameter(fields['parameter'], errors),
      unit: readUnit(fields['unit'], errors),
      value: readValue(fields['value'], errors),
    }
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

/** Which parameters a station has is known to its registry. */
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
