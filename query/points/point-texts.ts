/** Writes points as JSON, NDJSON and CSV. */

import { localText, utcText } from '../../analytics/time/iso-text.ts'
import { bug } from '../../store/limits/bug.ts'
import { pointUnits } from '../../store/tables.ts'
import type { Station } from '../analysed-device.ts'
import { ByteWriter } from '../answers/byte-writer.ts'
import { type PointRows, pointId } from './point-rows.ts'
import type { RunningMeans } from './running-means.ts'

const pointFormats = ['json', 'ndjson', 'csv'] as const
export type PointFormat = (typeof pointFormats)[number]

export interface PointTexts {
  /** `2016-05-30T02:20:00`; microseconds only if they are not zero. */
  utc(timeUs: number): string
  /** The same for the time of storage. */
  stored(timeUs: number): string
  /** `2016-05-30T07:50:00+05:30` */
  local(timeUs: number): string
}

export function createPointTexts(timeZone: string): PointTexts {
  const local = lastRemembered(timeUs => localText(timeUs, timeZone))
  return { utc: lastRemembered(utcText), stored: lastRemembered(utcText), local }
}

export const csvHeader =
  'id,sn,parameter,unit,timestamp,timestamp_local,last_updated,value_1min,value_15min,value_30min,value_60min\r\n'

/** Estimated bytes of a row. */
const bytesExpected: Record<PointFormat, number> = { json: 330, ndjson: 330, csv: 170 }
/** Text is gathered in pieces of this length, which fit into the processor's cache. */
const pieceLength = 16_384

/** Formats a row; many rows share the texts of their series and times. */
interface RowFormat {
  series(sn: string, parameter: string, unit: string): string
  times(utc: string, local: string, stored: string): string
  row(id: number, series: string, times: string, value: number, means: readonly [number, number, number]): string
}

const jsonRow: RowFormat = {
  series: (sn, parameter, unit) => `,"sn":"${sn}","parameter":"${parameter}","unit":"${unit}"`,
  times: (utc, local, stored) => {
    return `,"timestamp":"${utc}","timestamp_local":"${local}","last_updated":"${stored}","value_1min":`
  },
  row: (id, series, times, value, [mean15, mean30, mean60]) =>
    `{"id":${id}${series}${times}${value},"value_15min":${orNull(mean15)},"value_30min":${orNull(mean30)},` +
    `"value_60min":${orNull(mean60)}}`,
}

const csvRow: RowFormat = {
  series: (sn, parameter, unit) => `,${sn},${parameter},${unit},`,
  times: (utc, local, stored) => `${utc},${local},${withMicroseconds(stored)},`,
  row: (id, series, times, value, [mean15, mean30, mean60]) =>
    `${id}${series}${times}${value},${orEmpty(mean15)},${orEmpty(mean30)},${orEmpty(mean60)}\r\n`,
}

const wholeSecond = '2016-05-30T02:20:00'

/** Always with microseconds, so that programs recognize a column of times; points are at whole seconds. */
function withMicroseconds(utc: string): string {
  return utc.length === wholeSecond.length ? `${utc}.000000` : utc
}

/** The rows in their order: members of a JSON array, or lines. A station's own names need no escape. */
export function writePoints(
  format: PointFormat,
  station: Station,
  rows: PointRows,
  texts: PointTexts,
  means: RunningMeans,
): Uint8Array<ArrayBuffer> {
  const { row: rowText, ...parts } = format === 'csv' ? csvRow : jsonRow
  const seriesText = createSeriesTexts(station, parts)
  const timesText = createTimesText(texts, parts)
  const separator = format === 'json' ? ',' : ''
  const end = format === 'ndjson' ? '\n' : ''
  const writer = new ByteWriter(Number.POSITIVE_INFINITY, rows.length * bytesExpected[format])
  let piece = ''
  for (let row = 0; row < rows.length; row++) {
    const timeUs = rows.timesUs[row] as number
    const series = rows.series[row] as number
    const times = timesText(timeUs, rows.storedUs[row] as number)
    const names = seriesText(series, rows.units[row] as number)
    const values = means.at(series, timeUs)
    piece += `${row > 0 ? separator : ''}${rowText(pointId({ timeUs, series }), names, times, rows.values[row] as number, values)}${end}`
    if (piece.length < pieceLength) continue
    writer.ascii(piece)
    piece = ''
  }
  writer.ascii(piece)
  const bytes = writer.finish()
  if (bytes === undefined) throw bug('buffer limit reached without a bound')
  return bytes
}

type SeriesText = (series: number, unit: number) => string

function createSeriesTexts({ sn, series }: Station, { series: textOf }: Pick<RowFormat, 'series'>): SeriesText {
  const texts = new Map(
    series.map(({ number, parameter }) => [number, pointUnits.map(unit => textOf(sn, parameter, unit))]),
  )
  return (number, unit) => texts.get(number)?.[unit] ?? textOf(sn, '', '')
}

/** All parameters of a minute are adjacent, and were often stored together. */
function createTimesText(
  { utc, local, stored }: PointTexts,
  { times }: Pick<RowFormat, 'times'>,
): (timeUs: number, storedUs: number) => string {
  let [lastUs, lastStoredUs] = [Number.NaN, Number.NaN]
  let text = ''
  return (timeUs, storedUs) => {
    if (timeUs === lastUs && storedUs === lastStoredUs) return text
    text = times(utc(timeUs), local(timeUs), stored(storedUs))
    lastUs = timeUs
    lastStoredUs = storedUs
    return text
  }
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value
}

function orEmpty(value: number): number | string {
  return Number.isNaN(value) ? '' : value
}

/** Caches the last result, because neighbouring rows often have the same time. */
function lastRemembered<Value>(compute: (number: number) => Value): (number: number) => Value {
  let lastNumber = Number.NaN
  let last: Value
  return number => {
    if (number !== lastNumber) last = compute(number)
    lastNumber = number
    return last
  }
}
