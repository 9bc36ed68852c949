/**
 * Reads a topic from an offset to its end and onwards. The next records are fetched when the last ones are taken, so that a slow
 * consumer slows the reader, and nothing accumulates here. While Kafka is unavailable it retries.
 *
 * At the end it pauses before the next fetch, so that one fetch returns many consecutive groups: its cost here and at the broker
 * occurs in each process that reads the topic. The first record after an idle pause is read at once.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../../store/log.ts'

/** The reading part of a TopicPartition. */
export interface ReadPartition {
  fetch(
    offset: number,
    bytesMax: number,
    waitMs: number,
  ): Promise<{
    readonly records: readonly { readonly offset: number; readonly value: Buffer }[]
    /** Offset to continue from. */
    readonly nextOffset: number
    readonly highWatermark: number
  }>
  offsets(): Promise<{ readonly start: number; readonly end: number }>
}

type Fetched = Awaited<ReturnType<ReadPartition['fetch']>>

export interface TopicReaderOptions {
  readonly topic: string
  readonly partition: ReadPartition
  readonly from: number
  /** Takes one record. The next one follows when it has resolved. */
  readonly take: (offset: number, value: Buffer) => Promise<void>
  /** Records before this offset were deleted unread. Reading continues here. */
  readonly onGap: (offset: number) => void
  readonly monotonicMs: () => number
  readonly log: Log
  readonly retryMs?: number
  readonly pauseMs?: number
}

/** Size of a fetch. A single record can be larger, up to 4 MiB. */
const fetchBytes = 1024 * 1024
const waitMs = 500
const retryMsUsual = 500
/** Maximum added delay of a reading. */
const pauseMsUsual = 25
/** Several times the wait for records at the end. */
const behindMsMax = 2000

export class TopicReader {
  readonly #options: TopicReaderOptions
  #position: number
  #end: number
  /** The end found by a fetch, and the start of that fetch: earlier records are read when the position reaches the end. */
  #seen: { end: number; atMs: number } | undefined
  #caughtUpMs: number
  #wasCaughtUp = false
  #issue: string | undefined

  constructor(options: TopicReaderOptions) {
    this.#options = options
    this.#position = options.from
    this.#end = options.from
    this.#caughtUpMs = options.monotonicMs()
  }

  /** Everything before this offset was taken. */
  get position(): number {
    return this.#position
  }

  /** End of the topic, as far as known. */
  get end(): number {
    return this.#end
  }

  /** Reason why nothing can be read at present. */
  get issue(): string | undefined {
    return this.#issue
  }

  /** Seconds since everything then in the topic was read, or since the start. */
  ageSeconds(): number {
    return (this.#options.monotonicMs() - this.#caughtUpMs) / 1000
  }

  /** True when records may have been unread for too long. */
  isBehind(): boolean {
    return !this.#wasCaughtUp || this.ageSeconds() * 1000 > behindMsMax
  }

  /** Runs until the signal aborts. Rejects with errors of `take`. */
  async run(signal: AbortSignal): Promise<void> {
    const { pauseMs = pauseMsUsual } = this.#options
    while (!signal.aborted) {
      const fetched = await this.#fetch(signal)
      if (fetched === undefined) continue
      await this.#take(fetched, signal)
      if (fetched.records.length > 0 && fetched.nextOffset >= fetched.highWatermark) await this.#sleep(pauseMs, signal)
    }
  }

  async #take({ records, nextOffset }: Fetched, signal: AbortSignal): Promise<void> {
    for (const { offset, value } of records) {
      if (signal.aborted) return
      if (offset < this.#position) continue
      await this.#options.take(offset, value)
      this.#goTo(offset + 1)
    }
    this.#goTo(Math.max(this.#position, nextOffset))
  }

  /** Ends early when the signal aborts. */
  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (ms > 0) await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined)
  }

  async #fetch(signal: AbortSignal): Promise<Fetched | undefined> {
    const { partition, monotonicMs, retryMs = retryMsUsual } = this.#options
    const atMs = monotonicMs()
    try {
      const fetched = await partition.fetch(this.#position, fetchBytes, waitMs)
      this.#end = Math.max(this.#position, fetched.highWatermark)
      this.#seen ??= { end: this.#end, atMs }
      this.#note(undefined)
      return fetched
    } catch (error) {
      if (signal.aborted || (await this.#isSkipped())) return undefined
      this.#note(error instanceof Error ? error.message : String(error))
      await this.#sleep(retryMs, signal)
      return undefined
    }
  }

  /** Skips to the start of the topic when that is after the position: the retention was shorter than our absence. */
  async #isSkipped(): Promise<boolean> {
    const { topic, partition, onGap, log } = this.#options
    const { start } = await partition.offsets().catch(() => ({ start: 0 }))
    if (start <= this.#position) return false
    log.error({ topic, from: this.#position, to: start }, 'the topic deleted unread records by its retention')
    this.#seen = undefined
    this.#position = start
    this.#end = Math.max(this.#end, start)
    onGap(start)
    return true
  }

  #goTo(position: number): void {
    this.#position = position
    if (this.#seen === undefined || position < this.#seen.end) return
    this.#caughtUpMs = this.#seen.atMs
    this.#wasCaughtUp = true
    this.#seen = undefined
  }

  /** Logs one line when an issue begins, and one when it ends. */
  #note(issue: string | undefined): void {
    const { topic, log } = this.#options
    if (issue !== undefined && this.#issue === undefined)
      log.warn({ topic, reason: issue }, 'cannot read the topic, retrying')
    if (issue === undefined && this.#issue !== undefined) log.info({ topic }, 'the topic is read again')
    this.#issue = issue
  }
}
