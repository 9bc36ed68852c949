/**
 * Which rows of a topic the QuestDB of a replica shows, as a process knows it that does not forward the topic itself: by the groups that it has read,
 * and by what the forwarder publishes.
 */

import { groupHeaderLength } from '../journal/group.ts'
import { offsetOf } from '../journal/record.ts'
import type { PublishedState } from './published-state.ts'
import { RowCounts } from './row-counts.ts'
import { TopicWatermark } from './topic-watermark.ts'
import { UnappliedSeries } from './unapplied-series.ts'

const lostReason = 'QuestDB may have lost what it had applied, and gets it again'

export class TopicVisibility {
  readonly #series = new UnappliedSeries()
  readonly #rows = new RowCounts()
  readonly #watermark: TopicWatermark
  readonly #lostListeners: ((reason: string) => void)[] = []
  #state: PublishedState | undefined

  /** `from`: the offset of the first group that is read. */
  constructor(from: number) {
    this.#watermark = new TopicWatermark(from)
  }

  /** QuestDB shows everything before this offset; undefined before the first word of a forwarder. */
  get applied(): number | undefined {
    return this.#state?.applied
  }

  /** As `applied`, with what was applied before the process that forwards took the replica over. */
  get shown(): number | undefined {
    return this.#state && Math.max(this.#state.applied, this.#state.appliedBefore ?? 0)
  }

  /** The reason why its replica has to be a new copy of another one; undefined while it is in use. */
  get lost(): string | undefined {
    return this.#state?.lost ?? undefined
  }

  /** The difference that the last comparison found in its replica; undefined for none. */
  get differs(): string | undefined {
    return this.#state?.differs ?? undefined
  }

  /** Rows that were read here, and of these, how many show. */
  get rows(): { readonly read: number; readonly applied: number } {
    return this.#rows
  }

  /** The group at this offset, whole and checked. */
  take(offset: number, group: DataView): void {
    let oldestUs = Number.POSITIVE_INFINITY
    let rows = 0
    for (let at = groupHeaderLength; at < group.byteLength; at += group.getUint16(at + offsetOf.length, true)) {
      this.#series.add(offset, group.getUint32(at + offsetOf.series, true))
      const timeUs = group.getFloat64(at + offsetOf.timeUs, true)
      if (timeUs < oldestUs) oldestUs = timeUs
      rows++
    }
    this.#watermark.add(offset, oldestUs)
    this.#rows.add(offset, rows)
    this.#rows.show(this.#state?.applied ?? 0)
  }

  /** Groups before this offset are not read. */
  missedBefore(offset: number): void {
    this.#series.doubtBefore(offset)
    this.#watermark.doubtBefore(offset)
  }

  published(state: PublishedState): void {
    const before = this.#state ?? state
    this.#state = state
    const isOther = state.tenure !== before.tenure
    // Another process begins to count at 0.
    const isLost = isOther ? state.losses > 0 : state.losses !== before.losses
    const isAnew = isLost || isOther
    this.#watermark.published(state, isAnew)
    this.#series.applied(state.applied, isAnew)
    this.#rows.show(state.applied)
    if (isLost) for (const listener of this.#lostListeners) listener(lostReason)
  }

  onLost(listener: (reason: string) => void): void {
    this.#lostListeners.push(listener)
  }

  revision(series: number): number {
    return this.#series.revision(series)
  }

  oldestSince(txn: number): number {
    return this.#watermark.oldestSince(txn)
  }
}
