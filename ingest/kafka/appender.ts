/** Appends groups to a partition in turn: each is retried until it is stored or its deadline has passed. */

import { bug } from '../../store/limits/bug.ts'
import { Sleeper } from '../forwarder/sleeper.ts'
import { groupBodyMax, groupHeaderLength } from '../journal/group.ts'
import type { Timing } from '../timing.ts'
import { type Verdict, verdictBefore, verdictOf } from './append-verdicts.ts'
import type { Broker } from './broker-connection.ts'
import { messageOf, Refused, TooLate } from './kafka-errors.ts'
import type { PartitionLeader } from './partition-leader.ts'
import type { ProducerRequests } from './producer-requests.ts'
import { afterRefused, afterStored, afterUnknown, epochMax, type Producer } from './producer-state.ts'

/**
 * `stored`: all in-sync replicas have it. `full`: it is not stored and never will be. `unknown`: it may be stored, but only
 * before everything stored later.
 */
export type AppendOutcome = { outcome: 'stored'; offset: number } | { outcome: 'full' | 'unknown'; reason: string }

export interface AppenderOptions {
  leader: PartitionLeader
  requests: ProducerRequests
  timing: Timing
  /** No attempt begins later. */
  deadlineMs: number
}

const recordBytesMax = groupHeaderLength + groupBodyMax
const pauseMsMin = 50
const pauseMsMax = 1000
const noEpochLeft: Attempt = {
  mayBeStored: false,
  tryAgain: false,
  reason: 'the outcome of too many appends is unknown: restart this node',
}

const always = () => true

type Attempt = { offset: number } | ({ offset?: undefined; reason: string } & Verdict)

export class Appender {
  readonly #options: AppenderOptions
  readonly #sleeper: Sleeper
  #producer: Producer | undefined
  #lastOffset = -1
  #isBusy = false

  constructor(options: AppenderOptions) {
    this.#options = options
    this.#sleeper = new Sleeper(options.timing)
  }

  /** See `TopicPartition.append`. */
  async append(bytes: Uint8Array, mayBegin: () => boolean = always): Promise<AppendOutcome> {
    if (this.#isBusy) throw bug('two appends to a partition at once')
    if (bytes.length > recordBytesMax) throw bug(`a record of ${bytes.length} bytes`)
    this.#isBusy = true
    try {
      return await this.#appendUntilDeadline(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), mayBegin)
    } finally {
      this.#isBusy = false
    }
  }

  /** Appends in progress are not retried. */
  close(): void {
    this.#sleeper.stop()
    this.#options.requests.close()
  }

  async #appendUntilDeadline(value: Buffer, mayBegin: () => boolean): Promise<AppendOutcome> {
    const { timing, deadlineMs } = this.#options
    const endMs = timing.monotonicMs() + deadlineMs
    let mayBeStored = false
    for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
      // A group that may be stored was admitted before, so it is sent again to find its outcome.
      const attempt = await this.#attempt(value, mayBeStored ? always : mayBegin)
      if (attempt.offset !== undefined) return this.#stored(attempt.offset)
      mayBeStored ||= attempt.mayBeStored
      const isTooLate = timing.monotonicMs() + pauseMs > endMs || !(mayBeStored || mayBegin())
      if (isTooLate || !attempt.tryAgain || this.#sleeper.stopped) return this.#notStored(mayBeStored, attempt.reason)
      await this.#sleeper.sleep(pauseMs)
    }
  }

  async #attempt(value: Buffer, mayBegin: () => boolean): Promise<Attempt> {
    const { leader, requests } = this.#options
    let broker: Broker | undefined
    let isSending = false
    try {
      broker = await leader.find()
      this.#producer ??= await requests.init(broker)
      if (this.#producer.epoch > epochMax) return noEpochLeft
      isSending = true
      return { offset: await requests.produce(broker, leader.topic, value, this.#producer, mayBegin) }
    } catch (error) {
      if (broker !== undefined && !(error instanceof TooLate)) leader.forget(broker)
      if (error instanceof Refused && error.code === 'INVALID_PRODUCER_EPOCH') this.#producer = undefined
      return { ...(isSending ? verdictOf(error) : verdictBefore(error)), reason: messageOf(error) }
    }
  }

  #stored(offset: number): AppendOutcome {
    if (this.#producer !== undefined) this.#producer = afterStored(this.#producer)
    if (offset <= this.#lastOffset) {
      // The topic was recreated, or its brokers have lost its end.
      const reason = `stored at the offset ${offset}, which is not behind the last one, ${this.#lastOffset}`
      return { outcome: 'unknown', reason }
    }
    this.#lastOffset = offset
    return { outcome: 'stored', offset }
  }

  #notStored(mayBeStored: boolean, reason: string): AppendOutcome {
    const after = mayBeStored ? afterUnknown : afterRefused
    if (this.#producer !== undefined) this.#producer = after(this.#producer)
    return { outcome: mayBeStored ? 'unknown' : 'full', reason }
  }
}
