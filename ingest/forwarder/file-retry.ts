/** Retries work on the journal's files: a system error, such as too many open files, is logged and the work is repeated. */

import { type FileTask, type IssueLog, isSystemError } from './issue-log.ts'
import type { Sleeper } from './sleeper.ts'

const pauseMs = 1000

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
