/** What keeps readings from QuestDB at present: told once when it begins and once when it ends. */

import type { Log } from './log.ts'

export class FaultNotes {
  readonly #log: Log
  #fault: string | undefined
  /** There was a fault since this was last cleared. */
  interrupted = false

  constructor(log: Log) {
    this.#log = log
  }

  get current(): string | undefined {
    return this.#fault
  }

  /** A fault, or undefined when readings are taken. */
  note(fault: string | undefined): void {
    if (fault !== undefined) this.interrupted = true
    if ((fault === undefined) !== (this.#fault === undefined)) {
      if (fault === undefined) this.#log.info({}, 'QuestDB takes readings again')
      else this.#log.warn({ reason: fault }, 'QuestDB takes no readings; they wait in the journal')
    }
    this.#fault = fault
  }
}

/** Such as another open file: to be told and tried again. Any other error is a fault of ours. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
