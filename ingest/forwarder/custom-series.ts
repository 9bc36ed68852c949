/**
 * Which custom values a record takes away. A record replaces the one with its series and time as a whole: what that one had
 * values of and this one has not becomes null. The record before may be long gone from the journal, so it is not looked up:
 * a record gets a row without a value for each custom series that it leaves out and that may have a value as late as it is.
 * Live readings are later than all values and get none, nor does a history that comes in the order of time.
 */

import { bug } from '../../store/limits/bug.ts'
import { customAt, customCount, erasedCustom, offsetInCustom, offsetOf } from '../journal/record.ts'
import { type Absent, noneAbsent } from './row-format.ts'

/** The custom series of a series of records, such as of a device. Columns of numbers: a large fleet has millions of them. */
interface Known {
  numbers: number[]
  /** The latest time of a value that this process has seen, by place. */
  latestUs: number[]
  /** So many of the first were there before this process, and may have values in the table. */
  oldCount: number
}

export class CustomSeries {
  readonly #known = new Map<number, Known>()
  /** Of the record at hand: a new one for each would be most of what this thread allocates. */
  readonly #given: number[] = []
  /** What the table has from before this process is no later. */
  #storedUntilUs = Number.POSITIVE_INFINITY

  /** `pairs`: the number of a series of records and of a further one of it, in turns. */
  constructor(pairs: Uint32Array) {
    if (pairs.length % 2 !== 0) throw bug(`pairs of series come as ${pairs.length} numbers`)
    for (let at = 0; at < pairs.length; at += 2) {
      const known = this.#of(pairs[at] as number)
      known.oldCount = add(known, pairs[at + 1] as number) + 1
    }
  }

  /** Series that were erased, as `erasedCustom` tells them: no record replaces a value of theirs any more. */
  forget(erased: ReadonlySet<number>): void {
    for (const known of this.#known.values()) {
      for (let place = known.numbers.length - 1; place >= 0; place--) {
        if (!erased.has(erasedCustom(known.numbers[place] as number))) continue
        known.numbers.splice(place, 1)
        known.latestUs.splice(place, 1)
        if (place < known.oldCount) known.oldCount--
      }
    }
  }

  /** The table has no row of a process before this one that is later. Until it is known, every record may replace one. */
  storedUntil(timeUs: number): void {
    this.#storedUntilUs = timeUs
  }

  /** What the record at `offset` leaves out and may replace. To be called with every record before it is sent. */
  absentOf(view: DataView, offset: number): Absent {
    const count = customCount(view, offset)
    // Of most fleets no device has any.
    if (count === 0 && this.#known.size === 0) return noneAbsent
    const series = view.getUint32(offset + offsetOf.series, true)
    if (count === 0 && !this.#known.has(series)) return noneAbsent
    const known = this.#of(series)
    const timeUs = view.getFloat64(offset + offsetOf.timeUs, true)
    const given = this.#given
    putGiven(view, customAt(view, offset, count), count, given)
    const absent = this.#absentAmong(known, given, timeUs)
    for (const number of given) note(known, number, timeUs)
    return absent
  }

  #absentAmong({ numbers, latestUs, oldCount }: Known, given: readonly number[], timeUs: number): Absent {
    let absent: number[] | undefined
    for (let place = 0; place < numbers.length; place++) {
      const number = numbers[place] as number
      const mayHaveValue = timeUs <= (latestUs[place] as number) || (place < oldCount && timeUs <= this.#storedUntilUs)
      if (!mayHaveValue || given.includes(number)) continue
      absent ??= []
      absent.push(number)
    }
    return absent ?? noneAbsent
  }

  #of(series: number): Known {
    const known = this.#known.get(series) ?? { numbers: [], latestUs: [], oldCount: 0 }
    this.#known.set(series, known)
    return known
  }
}

function note(known: Known, number: number, timeUs: number): void {
  const found = known.numbers.indexOf(number)
  const place = found === -1 ? add(known, number) : found
  if (timeUs > (known.latestUs[place] as number)) known.latestUs[place] = timeUs
}

/** Its place. */
function add({ numbers, latestUs }: Known, number: number): number {
  latestUs.push(Number.NEGATIVE_INFINITY)
  return numbers.push(number) - 1
}

/** Numbers of the custom series that a record has a value of; one that was erased has none, and is not learned again. */
function putGiven(view: DataView, firstAt: number, count: number, given: number[]): void {
  given.length = 0
  for (let index = 0; index < count; index++) {
    const at = firstAt + index * offsetInCustom.next
    if (Number.isNaN(view.getFloat64(at + offsetInCustom.value, true))) continue
    given.push(view.getUint32(at + offsetInCustom.series, true))
  }
}
