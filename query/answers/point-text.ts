/** Series points as JSON text: `{"d":"2026-01-01 00:00","v":21.5}`. */

import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { HourlyColumns } from '../series.ts'
import type { ByteWriter } from './byte-writer.ts'

/** The shortest point there is, one digit long. The comma between two points is not counted. */
export const pointBytesMin = '{"d":"2026-01-01 00:00","v":0}'.length

const minuteMs = 60_000
const minuteUs = minuteMs * 1000
/** Text is gathered in pieces of this length, which fit into the processor's cache. */
const partLength = 8192

/** The part of a point before its value, written once a minute of local time instead of once a point. */
export interface PointHeads {
  at(timeUs: number): string
}

/** `startUs` to `endUs` is the range that will be asked about. It is at most some days long. */
export function createPointHeads(local: LocalTime, startUs: number, endUs: number): PointHeads {
  const firstMinute = Math.floor(startUs / minuteUs)
  const heads: (string | undefined)[] = new Array(Math.ceil(endUs / minuteUs) - firstMinute).fill(undefined)

  function at(timeUs: number): string {
    const minute = Math.floor(timeUs / minuteUs) - firstMinute
    const known = heads[minute]
    if (known !== undefined) return known
    const head = `{"d":"${local.text(timeUs)}","v":`
    heads[minute] = head
    return head
  }

  return { at }
}

/**
 * Writes one series, `[…]`, without the points whose value is missing. `order` lists the rows to write, ascending in
 * time. Numbers are printed as JavaScript does: the shortest text that reads back as the same double.
 */
export function writeSeries(
  writer: ByteWriter,
  heads: PointHeads,
  timesUs: Float64Array,
  values: Float64Array,
  order: Uint32Array,
): void {
  let text = '['
  let separator = ''
  for (let i = 0; i < order.length; i++) {
    const row = order[i] as number
    const value = values[row] as number
    if (Number.isNaN(value)) continue
    text += `${separator}${heads.at(timesUs[row] as number)}${value}}`
    separator = ','
    if (text.length > partLength) {
      writer.ascii(text)
      text = ''
    }
  }
  writer.ascii(`${text}]`)
}

export interface PointStyle {
  readonly local: LocalTime
  /** Each point also has its moment, `t` in milliseconds since 1970, because a local text may occur twice. */
  readonly withTimes: boolean
}

/** A point's text before its values, and its end. */
export function pointStart({ local }: PointStyle, timeMs: number): string {
  return `{"d":"${local.text(timeMs * 1000)}",`
}

export function pointEnd({ withTimes }: PointStyle, timeMs: number): string {
  return withTimes ? `,"t":${Math.floor(timeMs)}}` : '}'
}

export interface PointChoice {
  /** The rows to write; undefined for all. */
  readonly places?: Uint32Array | undefined
  /** Points whose entry in `rows` is not 0 get `flag`. */
  readonly marks?: { readonly rows: Uint8Array; readonly flag: number } | undefined
}

/** One series, `[…]`, without the rows whose value is missing. */
export function pointsText(
  style: PointStyle,
  timesMs: Float64Array,
  values: Float64Array,
  { places, marks }: PointChoice = {},
): string {
  const flag = `,"flag":${marks?.flag}`
  const count = places?.length ?? values.length
  const parts: string[] = []
  let text = '['
  let separator = ''
  let minute = Number.NaN
  let start = ''
  for (let i = 0; i < count; i++) {
    const row = places === undefined ? i : (places[i] as number)
    const value = values[row] as number
    if (Number.isNaN(value)) continue
    const timeMs = timesMs[row] as number
    // Readings of one minute share its text, which more than halves the time for a day of seconds.
    if (Math.floor(timeMs / minuteMs) !== minute) {
      minute = Math.floor(timeMs / minuteMs)
      start = `${pointStart(style, timeMs)}"v":`
    }
    const mark = marks === undefined || marks.rows[row] === 0 ? '' : flag
    text += `${separator}${start}${value}${mark}${pointEnd(style, timeMs)}`
    separator = ','
    if (text.length > partLength) {
      parts.push(text)
      text = ''
    }
  }
  return `${parts.join('')}${text}]`
}

/** `members` of each hour come first, each followed by a comma. */
export function hoursText(style: PointStyle, startsMs: Float64Array, columns: HourlyColumns, members = ''): string {
  const { mean, min, max, count } = columns
  const points: string[] = []
  for (let row = 0; row < count.length; row++) {
    if (count[row] === 0) continue
    const startMs = startsMs[row] as number
    const aggregates = `"mean":${mean[row]},"min":${min[row]},"max":${max[row]},"count":${count[row]}`
    points.push(pointStart(style, startMs) + members + aggregates + pointEnd(style, startMs))
  }
  return `[${points.join(',')}]`
}
