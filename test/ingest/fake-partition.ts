/** A topic in memory whose fetches wait until the test serves them. */

import { setImmediate as turn } from 'node:timers/promises'
import type { ReadPartition } from '../../ingest/kafka/consume/reader.ts'
import { device, records } from '../support/journal-parts.ts'
import { topicGroup } from './topic-content.ts'

interface TopicRow {
  readonly id: number
  readonly series: number
  readonly timeUs: number
}

export function groupOf(rows: readonly TopicRow[]): Buffer {
  const body = Buffer.concat(rows.map(({ id, series, timeUs }) => records(device(series), [id], timeUs)))
  return topicGroup(body, rows.length)
}

export function damaged(group: Buffer): Buffer {
  const bytes = Buffer.from(group)
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  return bytes
}

type Fetched = Awaited<ReturnType<ReadPartition['fetch']>>

export class FakePartition implements ReadPartition {
  readonly values: Buffer[] = []
  start = 0
  #pending: { readonly offset: number; readonly settled: PromiseWithResolvers<Fetched> } | undefined

  get isAsked(): boolean {
    return this.#pending !== undefined
  }

  fetch(offset: number): Promise<Fetched> {
    if (this.#pending !== undefined) throw new Error('two fetches at a time')
    const settled = Promise.withResolvers<Fetched>()
    this.#pending = { offset, settled }
    return settled.promise
  }

  async offsets(): Promise<{ start: number; end: number }> {
    return { start: this.start, end: this.values.length }
  }

  /** Answers the fetch that waits, with so many records at most, and resolves when they are taken. */
  async serve(count: number): Promise<void> {
    const { offset, settled } = await this.#waiting()
    this.#pending = undefined
    if (offset < this.start) settled.reject(new Error('the offset is out of range'))
    else {
      const values = this.values.slice(offset, offset + count)
      const records = values.map((value, index) => ({ offset: offset + index, value }))
      settled.resolve({ records, nextOffset: offset + values.length, highWatermark: this.values.length })
    }
    await this.#waiting()
  }

  async fail(): Promise<void> {
    const { settled } = await this.#waiting()
    this.#pending = undefined
    settled.reject(new Error('no broker answers'))
    await this.#waiting()
  }

  async close(): Promise<void> {
    this.#pending?.settled.reject(new Error('the partition is closed'))
    this.#pending = undefined
  }

  async #waiting() {
    for (;;) {
      if (this.#pending !== undefined) return this.#pending
      await turn()
    }
  }
}
