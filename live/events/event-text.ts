/** Events as text, and the cursors that they carry. */

import { metrics } from '../../store/tables.ts'
import type { AlertEvent } from './event-shape.ts'
import type { ReadingRing } from './reading-ring.ts'
import type { OwnedAlert } from './state-log.ts'

/** Positions count anew after a restart, so a cursor names the run that it is of, or what all nodes read: 16 hexadecimal digits. */
const cursorPattern = /^([0-9a-f]{16})-(\d{1,16})$/
const keys = metrics.map(metric => `"${metric}":`)

function cursorOf(run: string, position: number): string {
  return `${run}-${position}`
}

/** The name of the metric of a series of a device. */
export type MetricOf = (device: number, series: number) => string | undefined

/** An alert that has changed. */
export interface ToldAlert extends OwnedAlert {
  /** By number; 0 where it is of no single one. */
  readonly device: number
  readonly data: AlertEvent['data']
}

/** A chunk of the stream. */
export interface EventText {
  readonly bytes: Buffer
  /** The number of events in it; a heartbeat comment is none. */
  readonly count: number
}

export function eventText(text: string, count: number): EventText {
  return { bytes: Buffer.from(text), count }
}

/** The position that a client goes on at whose last event had this cursor; undefined for none of this run. */
export function readCursor(text: string, run: string): number | undefined {
  const [, ofRun, position] = cursorPattern.exec(text) ?? []
  return ofRun === run ? Number(position) : undefined
}

/** A cursor names the position behind the reading, so that the place behind the last one has one too. */
export function readingEvent(
  run: string,
  ring: ReadingRing,
  number: number,
  device: string,
  metricOf: MetricOf,
): string {
  let values = ''
  for (let column = 0; column < keys.length; column++) {
    const value = ring.value(number, column)
    if (!Number.isNaN(value)) values += `${values === '' ? '' : ','}${keys[column]}${value}`
  }
  ring.eachFurther(number, (series, value) => {
    const metric = metricOf(ring.device(number), series)
    if (metric !== undefined) values += `${values === '' ? '' : ','}"${metric}":${value}`
  })
  const data = `{"device":${JSON.stringify(device)},"ts":${Math.floor(ring.timeUs(number) / 1000)},"values":{${values}}}`
  return `id: ${cursorOf(run, ring.position(number) + 1)}\nevent: reading\ndata: ${data}\n\n`
}

export function stateEvent(device: string, state: string): string {
  return `event: state\ndata: ${JSON.stringify({ device, state })}\n\n`
}

export function alertEvent(data: AlertEvent['data']): string {
  return `event: alert\ndata: ${JSON.stringify(data)}\n\n`
}

/** The client has missed something and reads anew. */
export function resetEvent(run: string, position: number): string {
  return `id: ${cursorOf(run, position)}\nevent: reset\ndata: {}\n\n`
}

/** Where the client will go on is not known yet. */
export const beatWithoutCursor = ':\n\n'

/** No event, but a cursor for a client whose devices say little; and a comment, which some proxies wait for. */
export function beat(run: string, position: number): string {
  return `:\nid: ${cursorOf(run, position)}\n\n`
}
