/**
 * Which further values a record takes away. A record replaces the one with its series and time as a whole: what that one had
 * values of and this one has not becomes null. The record before may be long gone from the journal, so it is not looked up:
 * a record that is not newer than all of its series before it gets a row without a value for each further series that it
 * leaves out. Live readings are newer and get none.
 */

import { bug } from '../../limits/bug.ts'
import { furtherAt, furtherCount, offsetInFurther, offsetOf } from '../journal/record.ts'
import { type Absent, noneAbsent } from './row-format.ts'

/** Of one series of records, such as a device. */
interface Known {
  /** Numbers of the further series that it has, or had. */
  readonly numbers: number[]
  /** The latest time of a record with further values. */
  latestUs: number
}

export class FurtherSeries {
  readonly #known = new Map<number, Known>()
  /** What the table has from before this process is no later. */
  #storedUntilUs = Number.POSITIVE_INFINITY

  /** `pairs`: the number of a series of records and of a further one of it, in turns. */
  constructor(pairs: Uint32Array) {
    if (pairs.length % 2 !== 0) throw bug(`pairs of series come as ${pairs.length} numbers`)
    for (let at = 0; at < pairs.length; at += 2) this.#add(pairs[at] as number, pairs[at + 1] as number)
  }

  /** The table has no row of a process before this one that is later. Until it is known, every record may replace one. */
  storedUntil(timeUs: number): void {
    this.#storedUntilUs = timeUs
  }

  /** What the record at `offset` leaves out and may replace. To be called with every record before it is sent. */
  absentOf(view: DataView, offset: number): Absent {
    const count = furtherCount(view, offset)
    // Of most fleets no device has any.
    if (count === 0 && this.#known.size === 0) return noneAbsent
    const series = view.getUint32(offset + offsetOf.series, true)
    const known = this.#known.get(series)
    if (known === undefined && count === 0) return noneAbsent
    const timeUs = view.getFloat64(offset + offsetOf.timeUs, true)
    const mayReplace = timeUs <= Math.max(known?.latestUs ?? Number.NEGATIVE_INFINITY, this.#storedUntilUs)
    const absent = this.#take(series, view, furtherAt(view, offset, count), count, mayReplace ? known : undefined)
    if (count > 0) this.#noteTime(series, timeUs)
    return absent
  }

  /** Learns the further series of a record; those of `known` that it leaves out. */
  #take(series: number, view: DataView, firstAt: number, count: number, known: Known | undefined): Absent {
    const given: number[] = []
    for (let index = 0; index < count; index++) {
      given.push(view.getUint32(firstAt + index * offsetInFurther.next + offsetInFurther.series, true))
    }
    const absent = known?.numbers.filter(number => !given.includes(number)) ?? noneAbsent
    for (const number of given) this.#add(series, number)
    return absent.length === 0 ? noneAbsent : absent
  }

  #noteTime(series: number, timeUs: number): void {
    const known = this.#known.get(series)
    if (known !== undefined && timeUs > known.latestUs) known.latestUs = timeUs
  }

  #add(series: number, number: number): void {
    const known = this.#known.get(series)
    if (known === undefined) this.#known.set(series, { numbers: [number], latestUs: Number.NEGATIVE_INFINITY })
    else if (!known.numbers.includes(number)) known.numbers.push(number)
  }
}
