/** Tracks when a device or a key was last seen, and saves it in PostgreSQL in batches instead of at every request. */

import { setTimeout as sleep } from 'node:timers/promises'
import { bug } from '../store/limits/bug.ts'

/** A tracked record in memory. */
export interface SeenRecord {
  lastSeenMs: number
  /** True while `lastSeenMs` is newer than in PostgreSQL. */
  seenUnsaved: boolean
}

export interface LastSeen<Seen extends SeenRecord> {
  /** `withinMs` saves it sooner than usual. */
  seen(record: Seen, timeMs: number, withinMs?: number): void
  /** Saves the record's time at the next batch. */
  willBeSeen(record: Seen, withinMs?: number): void
  /** Saves pending times, then stops. Times that a frozen PostgreSQL does not take are lost. */
  close(): Promise<void>
}

export interface LastSeenOptions<Seen extends SeenRecord> {
  save: (records: readonly Seen[], timesMs: number[]) => Promise<void>
  /** Reports a batch that could not be saved. It is retried with the next. */
  failed: (error: unknown) => void
  flushMs: number
  batchMax: number
  /** With this many pending times while PostgreSQL is unavailable, others are tracked in memory alone. */
  unsavedMax: number
}

const closeMsMax = 3_000

export function createLastSeen<Seen extends SeenRecord>(options: LastSeenOptions<Seen>): LastSeen<Seen> {
  const { save, failed, flushMs, batchMax, unsavedMax } = options
  // Each record is listed once.
  let unsaved: Seen[] = []
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  /** Delay of the next timer. */
  let waitMs = flushMs
  let closed = false

  function seen(record: Seen, timeMs: number, withinMs = flushMs): void {
    if (timeMs <= record.lastSeenMs) return
    record.lastSeenMs = timeMs
    note(record, withinMs)
  }

  function note(record: Seen, withinMs: number): void {
    if (record.seenUnsaved || unsaved.length >= unsavedMax) return
    record.seenUnsaved = true
    unsaved.push(record)
    schedule(withinMs)
  }

  function schedule(withinMs: number): void {
    if (closed || (timer !== undefined && withinMs >= waitMs)) return
    waitMs = Math.min(waitMs, withinMs)
    // The end of the running save schedules the next one.
    if (running !== undefined) return
    clearTimeout(timer)
    timer = setTimeout(flush, waitMs).unref()
  }

  function flush(): void {
    timer = undefined
    waitMs = flushMs
    running ??= saveAll().finally(() => {
      running = undefined
      if (unsaved.length > 0) schedule(waitMs)
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

  async function saveBatch(batch: readonly Seen[]): Promise<void> {
    const times = batch.map(record => record.lastSeenMs)
    await save(batch, times)
    for (const [at, record] of batch.entries()) {
      if (!record.seenUnsaved) throw bug('a record was saved that had nothing to save')
      record.seenUnsaved = false
      // It was seen again while the batch was being saved.
      if (record.lastSeenMs !== times[at]) {
        record.seenUnsaved = true
        unsaved.push(record)
      }
    }
  }

  async function saveRest(): Promise<void> {
    await running
    if (unsaved.length > 0) await saveAll()
  }

  return {
    seen,
    willBeSeen: (record, withinMs = flushMs) => note(record, withinMs),
    async close() {
      closed = true
      clearTimeout(timer)
      await Promise.race([saveRest(), sleep(closeMsMax, undefined, { ref: false })])
    },
  }
}
