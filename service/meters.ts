/** What counts readings on their way in and events on their way out, and keeps what was rejected. */

import type { Registry } from 'prom-client'
import { type BulkMeter, createBulkMeter } from '../api/write/bulk-meter.ts'
import { createIntervalMeter, type IntervalMeter } from '../ingest/intake/interval-meter.ts'
import { createReadingMeter, type ReadingMeter } from '../ingest/intake/reading-meter.ts'
import { createRejections, type Rejections } from '../ingest/rejections/rejections.ts'
import { createSenderLog, type SenderLog } from '../ingest/rejections/sender-log.ts'
import type { EventMeter } from '../query/live/events/event-meter.ts'
import type { Log } from '../store/log.ts'
import type { Clock } from './clock.ts'
import { createEventMeter } from './event-metrics.ts'

export interface Meters {
  meter: ReadingMeter
  bulkMeter: BulkMeter
  eventMeter: EventMeter
  /** Of the meters of readings. */
  interval: IntervalMeter
  rejections: Rejections
  senderLog: SenderLog
}

export function createMeters(registry: Registry, log: Log, nowMs: Clock): Meters {
  const interval = createIntervalMeter()
  const senderLog = createSenderLog(log, () => performance.now())
  const rejections = createRejections({ nowMs, senderLog })
  return {
    meter: createReadingMeter(registry, interval, rejections),
    bulkMeter: createBulkMeter(registry, interval, rejections),
    eventMeter: createEventMeter(registry),
    interval,
    rejections,
    senderLog,
  }
}
