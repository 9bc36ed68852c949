/** Events and their cursors as text. */

import { createHash } from 'node:crypto'
import { metrics } from '../../../store/tables.ts'
import type { AlertEvent } from './event-shape.ts'
import type { ReadingRing } from './reading-ring.ts'
import type { OwnedAlert } from './state-log.ts'

const keys = metrics.map(metric => `"${metric}":`)

/** The name of the metric of a series of a device. */
export type MetricOf = (device: number, series: number) => string | undefined

export interface ChangedAlert extends OwnedAlert {
  /** Device number; 0 where the alert concerns several devices or none. */
  readonly device: number
  readonly data: AlertEvent['data']
}

export interface EventText {
  readonly bytes: Buffer
  /** The number of events in it; heartbeat comments do not count. */
  readonly count: number
}

export function eventText(text: string, count: number): EventText {
  return { bytes: Buffer.from(text), count }
}

/** `cursor` is the position behind the reading, so that the end of the stream has one too. */
export function readingEvent(
  cursor: string,
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
  ring.eachCustom(number, (series, value) => {
    const metric = metricOf(ring.device(number), series)
    if (metric !== undefined) values += `${values === '' ? '' : ','}"${metric}":${value}`
  })
  const data = `{"device":${JSON.stringify(device)},"ts":${Math.floor(ring.timeUs(number) / 1000)},"values":{${values}}}`
  return `id: ${cursor}\nevent: reading\ndata: ${data}\n\n`
}

export function stateEvent(device: string, state: string): string {
  return `event: state\ndata: ${JSON.stringify({ device, state })}\n\n`
}

export function alertEvent(data: AlertEvent['data']): string {
  return `event: alert\ndata: ${JSON.stringify(data)}\n\n`
}

/** The client has missed events and has to reload. */
export function resetEvent(cursor: string): string {
  return `id: ${cursor}\nevent: reset\ndata: {}\n\n`
}

/** Used while the client's place is unknown. */
export const beatWithoutCursor = ':\n\n'

/**
 * A cursor without an event, for a client whose devices report rarely; and a comment, because some proxies wait for
 * one.
 */
export function beat(cursor: string): string {
  return `:\nid: ${cursor}\n\n`
}

const digestDigits = 16
const positionPattern = /^(?:0|[1-9]\d{0,15})$/
const positionDigitsMax = 16

/**
 * A cursor begins with a digest of its journal, so that cursors of other journals, such as an earlier run's, are
 * recognized.
 */
export class EventCursors {
  readonly #digest: string

  constructor(journalId: string) {
    this.#digest = createHash('sha256').update(journalId).digest('hex').slice(0, digestDigits)
  }

  text(position: number): string {
    return `${this.#digest}-${position}`
  }

  /** Undefined for a text that is not a cursor of this journal. */
  read(text: string): number | undefined {
    if (text.length > digestDigits + 1 + positionDigitsMax || !text.startsWith(`${this.#digest}-`)) return undefined
    const digits = text.slice(digestDigits + 1)
    return positionPattern.test(digits) && Number.isSafeInteger(Number(digits)) ? Number(digits) : undefined
  }
}
