/** The kinds of rows by name: a description contains functions, which cannot be posted to a thread. */

import type { Fields } from '../field-names.ts'
import { createPointCheck, type PointValues } from '../point.ts'
import { pointWriter } from '../points-table.ts'
import { sentenceOf } from '../reading.ts'
import { readingRows } from './reading-rows.ts'
import type { CheckedRow, RefusedRow, RowCheck, RowCheckOptions, RowKind } from './row-kind.ts'

/** Points of air-quality stations as rows of bulk bodies. */
export const pointRows: RowKind<PointValues> = {
  noun: 'point',
  columns: [
    { name: 'timestamp', cell: 'utc time', isRequired: true },
    { name: 'sn', cell: 'text', isRequired: true },
    { name: 'parameter', cell: 'text', isRequired: true },
    { name: 'unit', cell: 'text', isRequired: true },
    { name: 'value', cell: 'number', isRequired: true },
  ],
  hasCustom: false,
  subject: 'sn',
  invalidCode: 'POINT_INVALID',
  lineBytesMin: '2000-01-01,a,o3,ppb,1'.length,
  createCheck,
  valuesPerRow: 1,
  put(doubles, at, { value }) {
    doubles[at] = value
  },
  createValues: nowMs => ({ timestampMs: 0, value: Number.NaN, storedAtUs: nowMs * 1000 }),
  take(doubles, at, timestampMs, values) {
    values.timestampMs = timestampMs
    values.value = doubles[at] ?? Number.NaN
  },
  writer: pointWriter,
}

const serialNumberCharactersMax = 64

/** The station, the parameter and the unit in the record identify the series. */
function createCheck({ aheadMsMax }: RowCheckOptions): RowCheck<PointValues> {
  const check = createPointCheck(aheadMsMax)
  const names: [sn: string, parameter: string, unit: string] = ['', '', '']
  const values: PointValues = { timestampMs: 0, value: 0, storedAtUs: 0 }

  return (fields: Fields, nowMs: number): CheckedRow<PointValues> | RefusedRow => {
    const sn = fields['sn']
    if (typeof sn !== 'string' || sn === '' || sn.length > serialNumberCharactersMax) {
      const reason = sn === undefined || sn === '' ? 'is required' : `must be a text of at most 64 characters`
      return { ok: false, name: undefined, reason: `sn ${reason}` }
    }
    const checked = check(fields, nowMs)
    if (!checked.ok) return { ok: false, name: sn, reason: sentenceOf(checked.errors) }
    const { parameter, unit, timestampMs, value } = checked.point
    names[0] = sn
    names[1] = parameter
    names[2] = unit
    values.timestampMs = timestampMs
    values.value = value
    return { ok: true, names, timestampMs, values }
  }
}

export const rowKinds = { readings: readingRows, points: pointRows } as const
export type RowKindName = keyof typeof rowKinds

/** For code that treats the values of every kind alike. */
export function rowKindOf(name: RowKindName): RowKind<never> {
  return rowKinds[name] as RowKind<never>
}
