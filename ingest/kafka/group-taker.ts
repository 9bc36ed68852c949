/**
 * Checks the groups of a topic and passes their records to listeners, in pieces between which the main thread does other work.
 */

import { setImmediate as turn } from 'node:timers/promises'
import type { Log } from '../../store/log.ts'
import { groupHeaderLength, receiptUsOf } from '../journal/group.ts'
import { offsetOf, type RecordLayout } from '../journal/record.ts'
import type { StoredListeners } from '../journal/stored-records.ts'
import type { TableDescription } from '../table.ts'
import { letterId } from './letter-id.ts'
import { isTopicGroup, topicLayout } from './topic-group.ts'
import type { TopicVisibility } from './topic-visibility.ts'

export interface GroupTakerOptions {
  readonly topic: string
  /** Table of its records. */
  readonly table: TableDescription
  /** Groups before this offset are not passed to listeners. */
  readonly notifyFrom: number
  readonly listeners: Pick<StoredListeners, 'notify'>
  readonly visibility: Pick<TopicVisibility, 'take'>
  readonly monotonicMs: () => number
  readonly log: Pick<Log, 'error'>
  readonly signal: AbortSignal
}

/** Records passed to the listeners at a time, which takes about a millisecond. */
const recordsPerPiece = 2000
/** How long the main thread works on records before other work. */
const sliceMsMax = 2

export class GroupTaker {
  readonly #options: GroupTakerOptions
  readonly #layout: RecordLayout
  #damaged = 0
  #sliceStartMs: number
  #nextId: number

  constructor(options: GroupTakerOptions) {
    this.#options = options
    this.#layout = topicLayout(options.table)
    this.#sliceStartMs = options.monotonicMs()
    this.#nextId = letterId(options.notifyFrom, 0)
  }

  /** Number of skipped groups. */
  get damaged(): number {
    return this.#damaged
  }

  /** Listeners have received all records before this id, or never will. */
  get nextId(): number {
    return this.#nextId
  }

  /** Groups before this offset were deleted unread. */
  skipTo(offset: number): void {
    this.#nextId = Math.max(this.#nextId, letterId(offset, 0))
  }

  /** Resolves when the listeners have received all of it. */
  async take(offset: number, value: Buffer): Promise<void> {
    await this.#takeGroup(offset, value)
    this.skipTo(offset + 1)
  }

  async #takeGroup(offset: number, value: Buffer): Promise<void> {
    const { topic, notifyFrom, visibility, log } = this.#options
    if (!isTopicGroup(value, this.#layout)) {
      if (this.#damaged++ === 0) log.error({ topic, offset }, 'damaged group in the topic skipped')
      return
    }
    const group = new DataView(value.buffer, value.byteOffset, value.length)
    // Visibility gets the whole group before other work: a query may see the rows at any time.
    visibility.take(offset, group)
    if (offset >= notifyFrom) await this.#notify(offset, group)
    else await this.#giveWay()
  }

  async #notify(offset: number, group: DataView): Promise<void> {
    const { listeners, signal } = this.#options
    const receiptMs = Math.floor(receiptUsOf(group) / 1000)
    this.#nextId = letterId(offset, 0)
    for (let at = groupHeaderLength; at < group.byteLength && !signal.aborted; ) {
      const start = at
      let count = 0
      for (; at < group.byteLength && count < recordsPerPiece; count++)
        at += group.getUint16(at + offsetOf.length, true)
      const position = this.#nextId
      this.#nextId += count
      listeners.notify(group, start, at, count, { position, receiptMs })
      await this.#giveWay()
    }
  }

  async #giveWay(): Promise<void> {
    const { monotonicMs } = this.#options
    if (monotonicMs() - this.#sliceStartMs < sliceMsMax) return
    await turn()
    this.#sliceStartMs = monotonicMs()
  }
}
