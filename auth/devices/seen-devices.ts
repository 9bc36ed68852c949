/** Tracks last-seen times of devices: noted in memory, saved in PostgreSQL in batches, and read again for lists. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import { createLastSeen } from '../last-seen.ts'
import type { Device } from './device.ts'
import type { DeviceMemory } from './device-memory.ts'
import { DeviceRecord } from './device-record.ts'
import { readLastSeen, saveLastSeen } from './device-sql.ts'

export interface SeenDevices {
  /** Updates the last-seen time in memory, unless `received` does; PostgreSQL is updated later in a batch. */
  seen(device: Pick<Device, 'number'>, timeMs: number): void
  /** Notes readings of this process or another one in memory. The process that accepted them saves the time. */
  received(readings: ReceivedReadings): void
  /** Applies times that other processes have saved. Memory stays unchanged while PostgreSQL does not answer. */
  learn(records: readonly DeviceRecord[]): Promise<void>
  close(): Promise<void>
}

/** Readings of one group, each with the number of its device. */
interface ReceivedReadings {
  readonly place: { readonly receiptMs: number } | undefined
  next(): boolean
  readonly series: number
}

export interface SeenDevicesOptions {
  pool: pg.Pool
  memory: DeviceMemory
  log: Pick<Log, 'warn'>
  flushMs: number
  unsavedMax: number
  /** True if all seen readings are also received, so that all processes have the same times. */
  isReceived: boolean
}

const seenPerStatement = 5_000
/** Lists are shown without PostgreSQL's times after this. */
const answerMsMax = 1_000

export function createSeenDevices(options: SeenDevicesOptions): SeenDevices {
  const { pool, memory, log, flushMs, unsavedMax, isReceived } = options
  const lastSeen = createLastSeen<DeviceRecord>({
    async save(records) {
      const seen = records.filter(({ lastSeenMs }) => lastSeenMs > 0)
      await saveLastSeen(
        pool,
        numbersOf(seen),
        seen.map(({ lastSeenMs }) => lastSeenMs),
      )
    },
    failed: error => log.warn({ err: error }, 'could not save last-seen times, retrying'),
    flushMs,
    batchMax: seenPerStatement,
    unsavedMax,
  })
  return {
    seen(device, timeMs) {
      // Looking the record up would take longer than the rest.
      const record = device instanceof DeviceRecord ? device : memory.byNumber(device.number)
      if (record === undefined || record.removed) return
      if (isReceived) lastSeen.willBeSeen(record)
      else lastSeen.seen(record, timeMs)
    },
    received(readings) {
      const receiptMs = readings.place?.receiptMs ?? 0
      while (readings.next()) memory.byNumber(readings.series)?.seenAt(receiptMs)
    },
    async learn(records) {
      const reading = readLastSeen(pool, numbersOf(records)).catch(error => {
        if (isUnavailable(error)) return []
        throw error
      })
      const rows = await Promise.race([reading, sleep(answerMsMax, [], { ref: false })])
      for (const { number, lastSeenMs } of rows) memory.byNumber(number)?.seenAt(lastSeenMs)
    },
    close: lastSeen.close,
  }
}

function numbersOf(records: readonly DeviceRecord[]): number[] {
  return records.map(({ number }) => number)
}
