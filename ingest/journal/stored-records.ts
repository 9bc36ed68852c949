/** Tells listeners which records have become durable. */

import { bug } from '../../store/limits/bug.ts'
import type { Log } from '../../store/log.ts'
import { customAt, customCount, offsetInCustom, offsetOf } from './record.ts'

/** Where records of a topic stand, which is the same in every process that reads it, and when they came. */
interface StoredPlace {
  /** Of the first of them, as `letterId` makes it; the next ones follow one by one. */
  readonly position: number
  /** When their group was taken, epoch milliseconds. */
  readonly receiptMs: number
}

/**
 * The records of one group, in the order of the journal, read where they stand: nothing is made for a record. Valid only
 * while the listener runs, since the bytes are used again.
 */
class StoredRecords {
  readonly count: number
  /** Undefined where no other process reads the journal. */
  readonly place: StoredPlace | undefined
  readonly #view: DataView
  readonly #end: number
  #at: number
  #next: number

  /** `view` has whole records from `start` to `end`. */
  constructor(view: DataView, start: number, end: number, count: number, place: StoredPlace | undefined) {
    this.count = count
    this.place = place
    this.#view = view
    this.#at = start
    this.#next = start
    this.#end = end
  }

  /** Moves to the next record, the first one at first; false behind the last. */
  next(): boolean {
    if (this.#next >= this.#end) return false
    this.#at = this.#next
    this.#next += this.#view.getUint16(this.#at + offsetOf.length, true)
    if (this.#next > this.#end) throw bug(`a stored record goes on to ${this.#next}, its group to ${this.#end}`)
    return true
  }

  /** The number of its series: of the device, for a reading. */
  get series(): number {
    return this.#view.getUint32(this.#at + offsetOf.series, true)
  }

  /** Epoch microseconds. */
  get timeUs(): number {
    return this.#view.getFloat64(this.#at + offsetOf.timeUs, true)
  }

  /** Of the column of this index, as the table has them; NaN for a missing one. */
  value(column: number): number {
    return this.#view.getFloat64(this.#at + offsetOf.values + 8 * column, true)
  }

  /** How many values it has without a column. */
  get customCount(): number {
    return customCount(this.#view, this.#at)
  }

  /** The number of the series of one of those, by its place among them. */
  customSeries(place: number): number {
    return this.#view.getUint32(this.#customAt(place) + offsetInCustom.series, true)
  }

  customValue(place: number): number {
    return this.#view.getFloat64(this.#customAt(place) + offsetInCustom.value, true)
  }

  #customAt(place: number): number {
    return customAt(this.#view, this.#at, this.customCount) + offsetInCustom.next * place
  }
}

/**
 * Called within one turn of the event loop, so it must be quick: some 50,000 records are the most that a group has. It
 * appends nothing before it returns.
 */
export type StoredListener = (records: StoredRecords) => void

export interface StoredListeners {
  /** `onMissed` is called when there were records that the listener was not told. */
  add(listener: StoredListener, onMissed?: () => void): void
  /** Whole records stand in the view from `start` to `end`. */
  notify(view: DataView, start: number, end: number, count: number, place?: StoredPlace): void
  /** Records have become durable that nobody is told. */
  missed(): void
}

/** What a listener throws is logged, once until it has succeeded again, and concerns nobody else. */
export function createStoredListeners(log: Pick<Log, 'error'>): StoredListeners {
  const listeners: Listener[] = []

  function each(tell: (listener: Listener) => void): void {
    for (const listener of listeners) {
      try {
        tell(listener)
        listener.hasFailed = false
      } catch (error) {
        if (!listener.hasFailed) log.error({ err: error }, 'a listener to stored records failed')
        listener.hasFailed = true
      }
    }
  }

  return {
    add: (call, missed) => void listeners.push({ call, missed, hasFailed: false }),
    notify(view, start, end, count, place) {
      each(({ call }) => call(new StoredRecords(view, start, end, count, place)))
    },
    missed() {
      each(({ missed }) => missed?.())
    },
  }
}

interface Listener {
  readonly call: StoredListener
  readonly missed: (() => void) | undefined
  hasFailed: boolean
}
