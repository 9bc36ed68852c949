/** Marks requests as stored in PostgreSQL, a moment after they are. */

import type { Mutex } from '../../store/limits/mutex.ts'
import type { Log } from '../../store/log.ts'
import type { KeyRows, StoredMark } from './key-rows.ts'

export interface StoredMarksOptions {
  rows: Pick<KeyRows, 'mark'>
  mutex: Mutex
  /** Those beyond it are not marked. */
  waitingMax: number
  log: Pick<Log, 'warn'>
}

/** Those that come while a statement runs share the next one. What is not marked is stored again when it is sent to another process. */
export function createStoredMarks({ rows, mutex, waitingMax, log }: StoredMarksOptions): (mark: StoredMark) => void {
  let waiting: StoredMark[] = []

  async function writeNext(): Promise<void> {
    const marks = waiting
    waiting = []
    try {
      await rows.mark(marks)
    } catch (error) {
      log.warn({ err: error, keys: marks.length }, 'stored requests with idempotency keys could not be marked')
    }
  }

  return mark => {
    if (waiting.length >= waitingMax) return
    waiting.push(mark)
    if (waiting.length === 1) void mutex.run(writeNext)
  }
}
