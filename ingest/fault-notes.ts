/** What keeps readings from QuestDB at present: told once when it begins and once when it ends. */

import type { Log } from './log.ts'

export class FaultNotes {
  readonly #log: Log
  #fault: string | undefined
  /** QuestDB may have been away since this was last cleared. */
  wasAway = false

  constructor(log: Log) {
    this.#log = log
  }

  get current(): string | undefined {
    return this.#fault
  }

  /** QuestDB did not answer, or somebody answered in its place. */
  noteAway(fault: string): void {
    this.wasAway = true
    this.note(fault)
  }

  /** Any fault, or undefined when readings are taken. */
  note(fault: string | undefined): void {
    if ((fault === undefined) !== (this.#fault === undefined)) {
      if (fault === undefined) this.#log.info({}, 'QuestDB takes readings again')
      else this.#log.warn({ reason: fault }, 'no readings go to QuestDB; they wait in the journal')
    }
    this.#fault = fault
  }
}

/** Such as another open file: to be told and tried again. Any other error is a fault of ours. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
