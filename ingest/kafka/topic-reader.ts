/**
 * Reads a topic from an offset to its end and on. The next records are fetched when the last ones are taken, so that who takes
 * them slower than they come makes the reader wait, and nothing gathers here. While Kafka is away it tries again.
 *
 * At the end it pauses before it fetches again, so that of groups that come one after the other many are fetched at once: what a fetch
 * costs here and at the broker it costs in each process that reads the topic. The first record after a pause in which none came is
 * read at once.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../store/log.ts'

/** Of a TopicPartition, what reads it. */
export interface ReadPartition {
  fetch(
    offset: number,
    bytesMax: number,
    waitMs: number,
  ): Promise<{
    readonly records: readonly { readonly offset: number; readonly value: Buffer }[]
    /** Where to go on. */
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
  /** Takes one record; the next one comes when it has resolved. */
  readonly take: (offset: number, value: Buffer) => Promise<void>
  /** Records before this offset are gone unread; it goes on here. */
  readonly onGap: (offset: number) => void
  readonly monotonicMs: () => number
  readonly log: Log
  readonly retryMs?: number
  readonly pauseMs?: number
}

/** Of records on their way; a single one can have more, up to 4 MiB. */
const fetchBytes = 1024 * 1024
const waitMs = 500
const retryMsUsual = 500
/** Readers may be told a reading so much later. */
const pauseMsUsual = 25
/** Some times what a reader at the end waits for records. */
const behindMsMax = 2000

export class TopicReader {
  readonly #options: TopicReaderOptions
  #position: number
  #end: number
  /** The end that a fetch has found, and when it began: what was appended before that is read when the position is there. */
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

  /** Of the topic, as far as is known. */
  get end(): number {
    return this.#end
  }

  /** Why nothing can be read at present. */
  get issue(): string | undefined {
    return this.#issue
  }

  /** How long ago everything was read that was in the topic then; before the first time, how long this reads. */
  ageSeconds(): number {
    return (this.#options.monotonicMs() - this.#caughtUpMs) / 1000
  }

  /** Records may have been there unread for longer than a moment. */
  isBehind(): boolean {
    return !this.#wasCaughtUp || this.ageSeconds() * 1000 > behindMsMax
  }

  /** Until the signal aborts. Rejects with what `take` throws. */
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

  /** Until the signal aborts, at most. */
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

  /** Goes on at the start of the topic when that is behind the position: its retention was shorter than this was away. */
  async #isSkipped(): Promise<boolean> {
    const { topic, partition, onGap, log } = this.#options
    const { start } = await partition.offsets().catch(() => ({ start: 0 }))
    if (start <= this.#position) return false
    log.error({ topic, from: this.#position, to: start }, 'records of a topic are gone unread, by its retention')
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

  /** One line when it begins, and one when it is over. */
  #note(issue: string | undefined): void {
    const { topic, log } = this.#options
    if (issue !== undefined && this.#issue === undefined) log.warn({ topic, reason: issue }, 'a topic cannot be read')
    if (issue === undefined && this.#issue !== undefined) log.info({ topic }, 'the topic is read again')
    this.#issue = issue
  }
}
