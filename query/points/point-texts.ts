/** Writes points as JSON, NDJSON and CSV. */

import assert from 'node:assert/strict'
import { localText, utcText } from '../../analytics/time/iso-text.ts'
import { pointUnits } from '../../store/tables.ts'
import { ByteWriter } from '../answers/byte-writer.ts'
import { pointId } from './point-id.ts'
import type { PointRows } from './point-rows.ts'
import type { RunningMeans } from './running-means.ts'
import type { Station } from './station.ts'

const pointFormats = ['json', 'ndjson', 'csv'] as const
export type PointFormat = (typeof pointFormats)[number]

export interface PointTexts {
  /** `2016-05-30T02:20:00`, microseconds only if they are not zero. */
  utc(timeUs: number): string
  /** The same for when a point was stored. */
  stored(timeUs: number): string
  /** `2016-05-30T07:50:00+05:30` */
  local(timeUs: number): string
}

export function createPointTexts(timeZone: string): PointTexts {
  const local = lastRemembered(timeUs => localText(timeUs, timeZone))
  return { utc: lastRemembered(utcText), stored: lastRemembered(utcText), local }
}

/** All parameters of a minute come one behind the other. */
function lastRemembered(textOf: (timeUs: number) => string): (timeUs: number) => string {
  let lastUs = Number.NaN
  let text = ''
  return timeUs => {
    if (timeUs !== lastUs) text = textOf(timeUs)
    lastUs = timeUs
    return text
  }
}

export const csvHeader =
  'id,sn,parameter,unit,timestamp,timestamp_local,last_updated,value_1min,value_15min,value_30min,value_60min\r\n'

/** Of a row. */
const bytesExpected: Record<PointFormat, number> = { json: 330, ndjson: 330, csv: 170 }

/** The rows in their order: members of a JSON array, or lines. What a station names itself needs no escape. */
export function writePoints(
  format: PointFormat,
  { sn, series }: Station,
  rows: PointRows,
  texts: PointTexts,
  means: RunningMeans,
): Uint8Array<ArrayBuffer> {
  const parameters = new Map(series.map(({ number, parameter }) => [number, parameter]))
  const write = format === 'csv' ? csvLine : jsonObject
  const separator = format === 'json' ? ',' : ''
  const end = format === 'ndjson' ? '\n' : ''
  const writer = new ByteWriter(Number.POSITIVE_INFINITY, rows.length * bytesExpected[format])
  for (let row = 0; row < rows.length; row++) {
    const timeUs = rows.timesUs[row] as number
    const number = rows.series[row] as number
    if (row > 0) writer.ascii(separator)
    const text = write(
      pointId({ timeUs, series: number }),
      sn,
      parameters.get(number) ?? '',
      pointUnits[rows.units[row] as number] ?? '',
      texts.utc(timeUs),
      texts.local(timeUs),
      texts.stored(rows.storedUs[row] as number),
      rows.values[row] as number,
      means.at(number, timeUs),
    )
    writer.ascii(text + end)
  }
  const bytes = writer.finish()
  assert(bytes !== undefined, 'there is no bound')
  return bytes
}

type WriteRow = (
  id: number,
  sn: string,
  parameter: string,
  unit: string,
  timestamp: string,
  timestampLocal: string,
  lastUpdated: string,
  value: number,
  means: readonly [number, number, number],
) => string

const jsonObject: WriteRow = (id, sn, parameter, unit, timestamp, timestampLocal, lastUpdated, value, means) => {
  const [mean15, mean30, mean60] = means
  return (
    `{"id":${id},"sn":"${sn}","parameter":"${parameter}","unit":"${unit}","timestamp":"${timestamp}",` +
    `"timestamp_local":"${timestampLocal}","last_updated":"${lastUpdated}","value_1min":${value},` +
    `"value_15min":${orNull(mean15)},"value_30min":${orNull(mean30)},"value_60min":${orNull(mean60)}}`
  )
}

const csvLine: WriteRow = (id, sn, parameter, unit, timestamp, timestampLocal, lastUpdated, value, means) => {
  const [mean15, mean30, mean60] = means
  return (
    `${id},${sn},${parameter},${unit},${timestamp},${timestampLocal},${lastUpdated},${value},` +
    `${orEmpty(mean15)},${orEmpty(mean30)},${orEmpty(mean60)}\r\n`
  )
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value
}

function orEmpty(value: number): number | string {
  return Number.isNaN(value) ? '' : value
}
