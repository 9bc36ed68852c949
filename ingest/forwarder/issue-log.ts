/** Issues of QuestDB and of the forwarder's own files: each is logged once when it begins and once when it ends. */

import type { Log } from '../../store/log.ts'
import type { Sleeper } from '../timing.ts'

export class IssueLog {
  readonly #log: Log
  #issue: string | undefined
  /** Each ends when its task succeeds. */
  readonly #fileIssues = new Map<FileTask, string>()
  /** QuestDB may have been unavailable since this was last cleared. */
  wasUnavailable = false

  constructor(log: Log) {
    this.#log = log
  }

  get current(): string | undefined {
    return this.#issue
  }

  /** The first of the present ones. */
  get fileIssue(): string | undefined {
    return this.#fileIssues.values().next().value
  }

  /** QuestDB did not answer, or another server answered in its place. */
  noteUnavailable(issue: string): void {
    this.wasUnavailable = true
    this.note(issue)
  }

  /** An issue with QuestDB, or undefined when readings are accepted. */
  note(issue: string | undefined): void {
    if ((issue === undefined) !== (this.#issue === undefined)) {
      if (issue === undefined) this.#log.info({}, 'QuestDB accepts readings again')
      else this.#log.warn({ reason: issue }, 'cannot write to QuestDB; readings wait in the journal')
    }
    this.#issue = issue
  }

  /** Reports that the task failed for this reason and will be retried, or undefined when it succeeded. */
  noteFile(task: FileTask, reason: string | undefined): void {
    const before = this.#fileIssues.get(task)
    if (reason !== undefined) this.#fileIssues.set(task, `${fileTasks[task]}: ${reason}`)
    else if (!this.#fileIssues.delete(task)) return
    if (before === undefined) this.#log.error({ reason }, `${fileTasks[task]}, retrying`)
    else if (reason === undefined) this.#log.info({ before }, 'journal files are accessible again')
  }
}

/** Tasks that fail independently, with their log messages. */
const fileTasks = {
  live: 'cannot read the journal',
  backfill: 'cannot read late readings from the journal',
  quarantine: 'cannot write a quarantine file',
  rewind: 'cannot read the journal for a replay',
  trim: 'cannot trim the journal',
  letters: 'cannot read or write the dead letters',
  tombstones: 'cannot write the tombstones of erased readings',
} as const
type FileTask = keyof typeof fileTasks

/** True for errors such as too many open files, which are logged and retried. Any other error is a bug. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}

const pauseMs = 1000

/** Retries work on the journal's files: a system error, such as too many open files, is logged and the work is repeated. */
export class FileRetry {
  readonly #issues: IssueLog
  readonly #sleeper: Sleeper

  constructor(issues: IssueLog, sleeper: Sleeper) {
    this.#issues = issues
    this.#sleeper = sleeper
  }

  /** Undefined after such an error and a pause. Any other error is a bug and is thrown. */
  async attempt<T>(task: FileTask, work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      const result = await work()
      this.#issues.noteFile(task, undefined)
      return result
    } catch (error) {
      if (!isSystemError(error)) throw error
      this.#issues.noteFile(task, error.message)
      await this.#sleeper.sleep(pauseMs)
      return undefined
    }
  }

  /** Retries until it succeeds and returns true. Returns false when the forwarder is stopping. */
  async untilDone(task: FileTask, work: () => void): Promise<boolean> {
    const tried = () => {
      work()
      return true
    }
    while (!this.#sleeper.stopped) if (await this.attempt(task, tried)) return true
    return false
  }
}
