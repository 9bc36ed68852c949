/** When devices were last seen: noted in memory, saved in PostgreSQL in batches, and read again for those who look at it. */

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
  /** Updates the last-seen time in memory, unless it is heard; PostgreSQL is updated later in a batch. */
  seen(device: Pick<Device, 'number'>, timeMs: number): void
  /** Readings that this process or another one took: the time in memory becomes that of each, and who took it saves it. */
  heard(readings: HeardReadings): void
  /** Takes over what other processes have saved. While PostgreSQL does not answer, memory stays as it is. */
  learn(records: readonly DeviceRecord[]): Promise<void>
  close(): Promise<void>
}

/** Readings of one group, each of a device by its number. */
interface HeardReadings {
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
  /** All that is seen is also heard, so that all processes know the same. */
  isHeard: boolean
}

const seenPerStatement = 5_000
/** A list is shown without what PostgreSQL has not said by then. */
const answerMsMax = 1_000

export function createSeenDevices(options: SeenDevicesOptions): SeenDevices {
  const { pool, memory, log, flushMs, unsavedMax, isHeard } = options
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
      // To look the record up takes longer than all the rest.
      const record = device instanceof DeviceRecord ? device : memory.byNumber(device.number)
      if (record === undefined || record.removed) return
      if (isHeard) lastSeen.willBeSeen(record)
      else lastSeen.seen(record, timeMs)
    },
    heard(readings) {
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
