/** Retries a spool's work that fails while Kafka is unavailable or the disk is full. Each issue is logged once. */

import type { Log } from '../../../store/log.ts'
import { isSystemError } from '../../forwarder/issue-log.ts'
import type { Sleeper } from '../../timing.ts'
import { isKafkaError } from '../client/errors.ts'

const retryMs = 1000

/** The disk accepts no writes at present. */
export class SpoolFull extends Error {}

export class SpoolRetry {
  readonly #topic: string
  readonly #sleeper: Sleeper
  readonly #log: Log
  #issue: string | undefined

  constructor(topic: string, sleeper: Sleeper, log: Log) {
    this.#topic = topic
    this.#sleeper = sleeper
    this.#log = log
  }

  /** Reason why the work fails at present. */
  get issue(): string | undefined {
    return this.#issue
  }

  /**
   * Returns the result, or undefined after a pause for an error that is temporary or that an operator can fix. Any other error is
   * a bug.
   */
  async attempt<T>(work: () => T | Promise<T>): Promise<T | undefined> {
    try {
      const result = await work()
      this.#note(undefined)
      return result
    } catch (error) {
      if (!isExpected(error)) throw error
      this.#note(error.message)
      await this.#sleeper.sleep(retryMs)
      return undefined
    }
  }

  /** Returns false when it was stopped before. */
  async untilDone(work: () => void): Promise<boolean> {
    const tried = () => {
      work()
      return true
    }
    while (!this.#sleeper.stopped) if (await this.attempt(tried)) return true
    return false
  }

  #note(issue: string | undefined): void {
    const topic = this.#topic
    if ((issue === undefined) !== (this.#issue === undefined) && !this.#sleeper.stopped) {
      if (issue === undefined) this.#log.info({ topic }, 'the topic is read again')
      else this.#log.warn({ topic, reason: issue }, 'cannot read the topic, retrying')
    }
    this.#issue = issue
  }
}

function isExpected(error: unknown): error is Error {
  if (isKafkaError(error) || error instanceof SpoolFull) return true
  return isSystemError(error)
}
