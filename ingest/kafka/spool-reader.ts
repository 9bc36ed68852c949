/** Where a spool reads its topic, and what it does about records that the topic has not any more. */

import type { Log } from '../../store/log.ts'
import type { Fetched } from './fetcher.ts'
import { OffsetOutOfRange } from './kafka-errors.ts'
import type { TopicPartition } from './topic-partition.ts'

export type SpoolPartition = Pick<TopicPartition, 'fetch' | 'offsets'>

export interface SpoolReaderOptions {
  topic: string
  /** The offset to begin at; undefined for the first one that the topic has. */
  from: number | undefined
  /** QuestDB had everything before this offset when that was told last; undefined where nothing was. */
  appliedBefore: number | undefined
  open: () => Promise<SpoolPartition>
  log: Log
}

const fetchBytes = 8 * 1024 * 1024
const fetchWaitMs = 500

export class SpoolReader {
  readonly #options: SpoolReaderOptions
  #partition: SpoolPartition | undefined
  #next: number | undefined
  #range = { start: 0, end: 0 }
  #lostGroups = 0
  #endsAt: number | undefined

  constructor(options: SpoolReaderOptions) {
    this.#options = options
    this.#next = options.from
  }

  /** The offset of the next group; undefined until it is known where to begin. */
  get next(): number | undefined {
    return this.#next
  }

  /** Where the topic begins and ends, as of the last fetch. */
  get range(): { start: number; end: number } {
    return this.#range
  }

  /** Groups that the topic had removed before QuestDB got them. */
  get lostGroups(): number {
    return this.#lostGroups
  }

  /** Where the topic ends, when that is before what was fetched or committed: it has lost groups, or is another one. */
  get endsAt(): number | undefined {
    return this.#endsAt
  }

  /** The next records go from this offset on. */
  goTo(next: number): void {
    this.#next = next
  }

  /** Undefined when there is nothing at the offset, and another one to try. Throws `KafkaAway` and `TopicMissing`. */
  async fetch(): Promise<Fetched | undefined> {
    this.#partition ??= await this.#options.open()
    this.#next ??= (await this.#partition.offsets()).start
    try {
      const fetched = await this.#partition.fetch(this.#next, fetchBytes, fetchWaitMs)
      this.#range = { start: fetched.logStart, end: fetched.highWatermark }
      this.#endsAt = undefined
      return fetched
    } catch (error) {
      if (!(error instanceof OffsetOutOfRange)) throw error
      this.#skip(this.#next, error)
      return undefined
    }
  }

  /** What the topic has not any more cannot be waited for. Where it ends early, the owner of the spool has to begin anew. */
  #skip(next: number, { start, end }: OffsetOutOfRange): void {
    const { topic, appliedBefore = 0, log } = this.#options
    if (next < start) {
      const from = Math.min(start, Math.max(next, appliedBefore))
      this.#lostGroups += start - from
      this.#next = start
      if (from < start) log.error({ topic, from, to: start }, 'the topic has removed groups that were not forwarded')
      return
    }
    if (this.#endsAt === undefined) {
      log.error(
        { topic, end, next },
        'the topic ends before the forwarded offset: it has lost groups, or was created again',
      )
    }
    this.#endsAt = end
  }
}
