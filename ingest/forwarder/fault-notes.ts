/**
 * What keeps readings from QuestDB at present, and what is wrong with the forwarder's own files: told once when it begins
 * and once when it ends.
 */

import type { Log } from '../../store/log.ts'

export class FaultNotes {
  readonly #log: Log
  #fault: string | undefined
  /** By what was tried; each ends when that very thing succeeds. */
  readonly #fileFaults = new Map<FileWork, string>()
  /** QuestDB may have been away since this was last cleared. */
  wasAway = false

  constructor(log: Log) {
    this.#log = log
  }

  get current(): string | undefined {
    return this.#fault
  }

  /** The first of those that last. */
  get fileFault(): string | undefined {
    return this.#fileFaults.values().next().value
  }

  /** QuestDB did not answer, or somebody answered in its place. */
  noteAway(fault: string): void {
    this.wasAway = true
    this.note(fault)
  }

  /** Any fault of QuestDB, or undefined when readings are taken. */
  note(fault: string | undefined): void {
    if ((fault === undefined) !== (this.#fault === undefined)) {
      if (fault === undefined) this.#log.info({}, 'QuestDB takes readings again')
      else this.#log.warn({ reason: fault }, 'no readings go to QuestDB; they wait in the journal')
    }
    this.#fault = fault
  }

  /** The work on the journal's files failed for this reason and will be tried again; undefined when it succeeded. */
  noteFile(work: FileWork, reason: string | undefined): void {
    const before = this.#fileFaults.get(work)
    if (reason !== undefined) this.#fileFaults.set(work, `${fileWorks[work]}: ${reason}`)
    else if (!this.#fileFaults.delete(work)) return
    if (before === undefined) this.#log.error({ reason }, `${fileWorks[work]}; it is tried again`)
    else if (reason === undefined) this.#log.info({ before }, 'the files of the journal can be used again')
  }
}

/** What may fail, apart from each other, and how that is told. */
const fileWorks = {
  live: 'the journal cannot be read',
  backfill: 'the journal cannot be read for late readings',
  quarantine: 'what is damaged in the journal cannot be put into quarantine',
  rewind: 'the journal cannot be read from its beginning',
  trim: 'the journal cannot be trimmed',
  letters: 'the dead letters cannot be used',
  tombstones: 'that readings are erased cannot be noted',
} as const
export type FileWork = keyof typeof fileWorks

/** Such as another open file: to be told and tried again. Any other error is a fault of ours. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
