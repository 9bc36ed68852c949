/** Where the forwarder puts what QuestDB refuses, up to a bound. */

import type { Log } from '../../store/log.ts'
import type { Disk } from '../journal/disk.ts'
import { offsetOf } from '../journal/record.ts'
import type { TableDescription } from '../table.ts'
import { countDeadLetters, deadLettersMax, writeDeadLetter } from './dead-letters.ts'
import { type FaultNotes, isSystemError } from './fault-notes.ts'
import type { Round } from './round.ts'

export interface DeadLetterBoxOptions {
  table: TableDescription
  disk: Disk
  nowMs: () => number
  log: Log
  faults: FaultNotes
}

export class DeadLetterBox {
  readonly #options: DeadLetterBoxOptions
  #count: number

  constructor(options: DeadLetterBoxOptions) {
    this.#options = options
    this.#count = countDeadLetters(options.disk)
  }

  get count(): number {
    return this.#count
  }

  /** Somebody else has changed what is in it. */
  recount(): void {
    this.#count = countDeadLetters(this.#options.disk)
  }

  /** Puts the record at the offset aside, durably; false when it cannot be, and has to be sent again. */
  put(round: Round, offset: number, reason: string): boolean {
    const { table, disk, nowMs, log, faults } = this.#options
    if (this.#count >= deadLettersMax) {
      faults.note(`there are ${deadLettersMax} dead letters; look at them, then replay or remove them`)
      return false
    }
    const length = round.view.getUint16(offset + offsetOf.length, true)
    const position = round.positionOf(offset)
    try {
      writeDeadLetter(table, disk, position, round.bytes.subarray(offset, offset + length), reason, nowMs())
      this.recount()
    } catch (error) {
      if (!isSystemError(error)) throw error
      faults.noteFile('letters', error.message)
      return false
    }
    faults.noteFile('letters', undefined)
    log.error({ id: position, reason }, 'a row was refused by QuestDB and is kept as a dead letter')
    return true
  }
}
