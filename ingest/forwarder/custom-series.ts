/**
 * Finds the custom values that a record erases. A record replaces the record with the same series and time completely: values
 * missing in the new one become null. The old record may have left the journal, so it is not looked up. Instead, a record gets an
 * empty row for each custom series that it omits and that may have a value as late as it is. Live readings are later than all
 * values and need no such rows, nor does a history sent in order of time.
 */

import { bug } from '../../store/limits/bug.ts'
import { customAt, customCount, erasedCustom, offsetInCustom, offsetOf } from '../journal/record.ts'
import { type Absent, noneAbsent } from './row-format.ts'

/** The custom series of a series of records, such as of a device. Arrays of numbers: a large fleet has millions of them. */
interface Known {
  numbers: number[]
  /** Each place has the latest time of a value that this process has seen. */
  latestUs: number[]
  /** This many of the first existed before this process, and may have values in the table. */
  oldCount: number
}

export class CustomSeries {
  readonly #known = new Map<number, Known>()
  /** Custom series of the current record. Reused: a new array for each would dominate this thread's allocations. */
  readonly #given: number[] = []
  /** Latest time in the table from earlier processes. */
  #storedUntilUs = Number.POSITIVE_INFINITY

  /** `pairs`: numbers of a series of records and one of its custom series, alternating. */
  constructor(pairs: Uint32Array) {
    if (pairs.length % 2 !== 0) throw bug(`pairs of series come as ${pairs.length} numbers`)
    for (let at = 0; at < pairs.length; at += 2) {
      const known = this.#of(pairs[at] as number)
      known.oldCount = add(known, pairs[at + 1] as number) + 1
    }
  }

  /** Removes erased series, given as `erasedCustom` numbers: records do not replace their values any more. */
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

  /** Sets the latest time in the table from earlier processes. While unknown, every record may replace a value. */
  storedUntil(timeUs: number): void {
    this.#storedUntilUs = timeUs
  }

  /** The custom series that the record at `offset` omits and may replace. Call it for every record before it is sent. */
  absentOf(view: DataView, offset: number): Absent {
    const count = customCount(view, offset)
    // Most fleets have no custom series.
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

/** Returns its place. */
function add({ numbers, latestUs }: Known, number: number): number {
  latestUs.push(Number.NEGATIVE_INFINITY)
  return numbers.push(number) - 1
}

/** Numbers of the custom series with a value in the record. Erased series are skipped, and not added again. */
function putGiven(view: DataView, firstAt: number, count: number, given: number[]): void {
  given.length = 0
  for (let index = 0; index < count; index++) {
    const at = firstAt + index * offsetInCustom.next
    if (Number.isNaN(view.getFloat64(at + offsetInCustom.value, true))) continue
    given.push(view.getUint32(at + offsetInCustom.series, true))
  }
}
