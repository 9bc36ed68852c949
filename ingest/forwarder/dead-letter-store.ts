/** Keeps the rows that QuestDB refuses, up to a bound. */

import type { Log } from '../../store/log.ts'
import type { Disk } from '../journal/disk.ts'
import { offsetOf } from '../journal/record.ts'
import type { TableDescription } from '../table.ts'
import type { Batch } from './batch.ts'
import { countDeadLetters, deadLettersMax, writeDeadLetter } from './dead-letters.ts'
import { type IssueLog, isSystemError } from './issue-log.ts'

export interface DeadLetterStoreOptions {
  table: TableDescription
  disk: Disk
  nowMs: () => number
  log: Log
  issues: IssueLog
}

export class DeadLetterStore {
  readonly #options: DeadLetterStoreOptions
  #count: number

  constructor(options: DeadLetterStoreOptions) {
    this.#options = options
    this.#count = countDeadLetters(options.disk)
  }

  get count(): number {
    return this.#count
  }

  /** The directory was changed from outside. */
  recount(): void {
    this.#count = countDeadLetters(this.#options.disk)
  }

  /** Adds the record at the offset, durably; false when it cannot, and the record has to be sent again. */
  put(batch: Batch, offset: number, reason: string): boolean {
    const { table, disk, nowMs, log, issues } = this.#options
    if (this.#count >= deadLettersMax) {
      issues.note(`there are ${deadLettersMax} dead letters; look at them, then replay or remove them`)
      return false
    }
    const length = batch.view.getUint16(offset + offsetOf.length, true)
    const position = batch.positionOf(offset)
    try {
      writeDeadLetter(table, disk, position, batch.bytes.subarray(offset, offset + length), reason, nowMs())
      this.recount()
    } catch (error) {
      if (!isSystemError(error)) throw error
      issues.noteFile('letters', error.message)
      return false
    }
    issues.noteFile('letters', undefined)
    log.error({ id: position, reason }, 'QuestDB rejected a row; stored as a dead letter')
    return true
  }
}
