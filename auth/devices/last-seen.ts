/** Tracks when each device was last seen, and saves it in PostgreSQL in batches instead of at every reading. */

import type { DeviceRecord } from './device-record.ts'

export interface LastSeen {
  seen(record: DeviceRecord, timeMs: number): void
  /** Saves what is not yet saved, then stops. */
  close(): Promise<void>
}

export interface LastSeenOptions {
  save: (numbers: number[], timesMs: number[]) => Promise<void>
  /** Reports a batch that could not be saved; it is retried with the next. */
  failed: (error: unknown) => void
  flushMs: number
  batchMax: number
}

export function createLastSeen({ save, failed, flushMs, batchMax }: LastSeenOptions): LastSeen {
  // Bounded by the number of devices: a device stands here once, however often it is seen.
  let unsaved: DeviceRecord[] = []
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function seen(record: DeviceRecord, timeMs: number): void {
    if (timeMs <= record.lastSeenMs) return
    record.lastSeenMs = timeMs
    if (record.seenUnsaved) return
    record.seenUnsaved = true
    unsaved.push(record)
    if (timer === undefined && !closed) timer = setTimeout(flush, flushMs).unref()
  }

  function flush(): void {
    timer = undefined
    running ??= saveAll().finally(() => {
      running = undefined
      if (unsaved.length > 0 && !closed) timer ??= setTimeout(flush, flushMs).unref()
    })
  }

  async function saveAll(): Promise<void> {
    const records = unsaved
    unsaved = []
    for (let from = 0; from < records.length; from += batchMax) {
      const batch = records.slice(from, from + batchMax)
      try {
        await saveBatch(batch)
      } catch (error) {
        unsaved = unsaved.concat(records.slice(from))
        failed(error)
        return
      }
    }
  }

  async function saveBatch(batch: DeviceRecord[]): Promise<void> {
    const times = batch.map(record => record.lastSeenMs)
    await save(
      batch.map(record => record.number),
      times,
    )
    for (const [at, record] of batch.entries()) {
      record.seenUnsaved = false
      // Seen again while the batch was being saved.
      if (record.lastSeenMs !== times[at]) {
        record.seenUnsaved = true
        unsaved.push(record)
      }
    }
  }

  async function close(): Promise<void> {
    closed = true
    clearTimeout(timer)
    await running
    if (unsaved.length > 0) await saveAll()
  }

  return { seen, close }
}
