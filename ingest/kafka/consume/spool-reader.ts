/** Reads a spool's topic, and handles records that the topic has deleted. */

import type { Log } from '../../../store/log.ts'
import { OffsetOutOfRange } from '../client/errors.ts'
import type { Fetched } from '../client/fetcher.ts'
import type { TopicPartition } from '../client/partition.ts'

export type SpoolPartition = Pick<TopicPartition, 'fetch' | 'offsets'>

export interface SpoolReaderOptions {
  topic: string
  /** Start offset. Undefined for the first one in the topic. */
  from: number | undefined
  /** QuestDB had everything before this offset by the last report. Undefined without one. */
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

  /** Offset of the next group. Undefined while the start is unknown. */
  get next(): number | undefined {
    return this.#next
  }

  /** Range of the topic at the last fetch. */
  get range(): { start: number; end: number } {
    return this.#range
  }

  /** Number of groups deleted from the topic before QuestDB got them. */
  get lostGroups(): number {
    return this.#lostGroups
  }

  /** End of the topic, if before fetched or committed offsets: the topic has lost groups or was replaced. */
  get endsAt(): number | undefined {
    return this.#endsAt
  }

  /** Continues at this offset. */
  goTo(next: number): void {
    this.#next = next
  }

  /** Undefined when nothing is at the offset, and another one has to be tried. Throws `KafkaAway` and `TopicMissing`. */
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

  /** Skips deleted records, which will never arrive. Where the topic ends early, the spool's owner has to restart. */
  #skip(next: number, { start, end }: OffsetOutOfRange): void {
    const { topic, appliedBefore = 0, log } = this.#options
    if (next < start) {
      const from = Math.min(start, Math.max(next, appliedBefore))
      this.#lostGroups += start - from
      this.#next = start
      if (from < start) log.error({ topic, from, to: start }, 'the topic deleted groups before they were forwarded')
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
