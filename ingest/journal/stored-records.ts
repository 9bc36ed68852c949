/** Notifies listeners of records that have become durable. */

import { bug } from '../../store/limits/bug.ts'
import type { Log } from '../../store/log.ts'
import { customAt, customCount, offsetInCustom, offsetOf } from './record.ts'

/** Position of records in a topic, which is the same in every process that reads it, and their receipt time. */
interface StoredPlace {
  /** Position of the first record, made by `letterId`. The others follow consecutively. */
  readonly position: number
  /** Receipt time of their group, epoch milliseconds. */
  readonly receiptMs: number
}

/**
 * The records of one group, in the order of the journal, read in place: no object is created for a record. Valid only while the
 * listener runs, since the bytes are reused.
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

  /** Moves to the next record, initially the first. Returns false after the last. */
  next(): boolean {
    if (this.#next >= this.#end) return false
    this.#at = this.#next
    this.#next += this.#view.getUint16(this.#at + offsetOf.length, true)
    if (this.#next > this.#end) throw bug(`a stored record goes on to ${this.#next}, its group to ${this.#end}`)
    return true
  }

  /** Number of its series: of the device, for a reading. */
  get series(): number {
    return this.#view.getUint32(this.#at + offsetOf.series, true)
  }

  /** Epoch microseconds. */
  get timeUs(): number {
    return this.#view.getFloat64(this.#at + offsetOf.timeUs, true)
  }

  /** Value of the column with this index in the table; NaN for a missing one. */
  value(column: number): number {
    return this.#view.getFloat64(this.#at + offsetOf.values + 8 * column, true)
  }

  /** Number of its values without a column. */
  get customCount(): number {
    return customCount(this.#view, this.#at)
  }

  /** Number of a custom value's series, by its place among them. */
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
 * Called within one turn of the event loop, so it must be quick: a group has at most some 50,000 records. It must not append
 * before it returns.
 */
export type StoredListener = (records: StoredRecords) => void

export interface StoredListeners {
  /** `onMissed` is called when the listener missed records. */
  add(listener: StoredListener, onMissed?: () => void): void
  /** The view has whole records from `start` to `end`. */
  notify(view: DataView, start: number, end: number, count: number, place?: StoredPlace): void
  /** Records have become durable without a notification. */
  missed(): void
}

/** A listener's exception is logged, once until it has succeeded again, and does not affect other listeners. */
export function createStoredListeners(log: Pick<Log, 'error'>): StoredListeners {
  const listeners: Listener[] = []

  function each(call: (listener: Listener) => void): void {
    for (const listener of listeners) {
      try {
        call(listener)
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
