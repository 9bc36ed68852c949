/**
 * Erased series whose rows are still in the journal: a replay must not send them to QuestDB again. They are in a small file
 * beside the journal, which is on disk before the first row is removed from QuestDB. A tombstone applies to records before a
 * position, and is removed once the journal has no record before it. Custom series are given as `erasedCustom` numbers.
 */

import { bug } from '../../store/limits/bug.ts'
import type { Disk } from './disk.ts'
import { eraseCustom, offsetOf, withoutSeries } from './record.ts'

export interface Erased {
  /** No record from this position on is erased; 0 without erased records. */
  readonly before: number
  /** True when a record of this series at this position is erased. */
  covers(seriesNumber: number, position: number): boolean
}

export const nothingErased: Erased = { before: 0, covers: () => false }

/**
 * Returns true when the record at `offset`, at `position` of the journal, is erased. Otherwise its erased custom values are
 * removed.
 */
export function isRecordErased(erased: Erased, view: DataView, offset: number, position: number): boolean {
  const covers = (series: number) => erased.covers(series, position)
  if (covers(view.getUint32(offset + offsetOf.series, true))) return true
  eraseCustom(view, offset, covers)
  return false
}

export const tombstonesName = 'erased'

export class Tombstones implements Erased {
  readonly #disk: Disk
  /** End of the erased part of the journal, by the number of the series. */
  #ends: Map<number, number>
  #before: number

  constructor(disk: Disk) {
    this.#disk = disk
    this.#ends = readTombstones(disk)
    this.#before = highest(this.#ends)
  }

  get before(): number {
    return this.#before
  }

  covers(seriesNumber: number, position: number): boolean {
    return position < (this.#ends.get(seriesNumber) ?? 0)
  }

  /** When it returns, the records of these series before `end` stay erased over any restart. */
  add(seriesNumbers: readonly number[], end: number): void {
    const ends = new Map(this.#ends)
    for (const number of seriesNumbers) ends.set(number, Math.max(end, ends.get(number) ?? 0))
    if (ends.size < this.#ends.size || highest(ends) < this.#before) {
      throw bug(`of ${this.#ends.size} tombstones up to ${this.#before} stay ${ends.size}, up to ${highest(ends)}`)
    }
    this.#save(ends)
  }

  /** The journal has no records before this position any more. */
  prune(start: number): void {
    const ends = new Map([...this.#ends].filter(([, end]) => end > start))
    if (this.#before > start && highest(ends) !== this.#before) {
      throw bug(`tombstones up to ${this.#before} end at ${highest(ends)}, and the journal begins at ${start}`)
    }
    if (ends.size < this.#ends.size) this.#save(ends)
  }

  #save(ends: Map<number, number>): void {
    this.#disk.replace(tombstonesName, Buffer.from(JSON.stringify([...ends])))
    this.#disk.syncDirectory()
    this.#ends = ends
    this.#before = highest(ends)
  }
}

function highest(ends: Map<number, number>): number {
  let end = 0
  for (const other of ends.values()) end = Math.max(end, other)
  return end
}

function readTombstones(disk: Disk): Map<number, number> {
  if (!disk.list().includes(tombstonesName)) return new Map()
  const file = disk.open(tombstonesName, false)
  try {
    const bytes = new Uint8Array(file.size())
    file.read(bytes, 0)
    const pairs: unknown = JSON.parse(Buffer.from(bytes).toString())
    if (!Array.isArray(pairs) || !pairs.every(isPair)) throw new Error('it holds no list of numbers and positions')
    return new Map(pairs)
  } catch (error) {
    // An unreadable file may be readable later. A damaged one must not be treated as empty.
    if (error instanceof Error && 'syscall' in error) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(
      `the file ${tombstonesName} in the journal's directory is damaged (${reason}): restore it from a backup`,
    )
  } finally {
    file.close()
  }
}

function isPair(value: unknown): value is [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger)
}

/** Bulk data checked before the erasure of its series is appended before this many later erasures. */
const endedMax = 10_000

/** Series that the journal rejects: their records as bulk data, and their custom values. */
export class EndedSeries {
  /** The numbers are `erasedCustom` numbers, the oldest first. */
  readonly #numbers = new Set<number>()

  add(numbers: Iterable<number>): void {
    for (const number of numbers) this.#numbers.add(number)
    for (const number of this.#numbers) {
      if (this.#numbers.size <= endedMax) break
      this.#numbers.delete(number)
    }
  }

  /** Returns whole records without ended series, or the same array when it has none. */
  without(records: Uint8Array): Uint8Array {
    return this.#numbers.size === 0 ? records : withoutSeries(records, this.#numbers)
  }

  /** The records must be whole. Their series may have been resolved before they ended. */
  eraseCustom(view: DataView, start: number, end: number): void {
    if (this.#numbers.size === 0) return
    const isEnded = (number: number) => this.#numbers.has(number)
    for (let offset = start; offset < end; offset += view.getUint16(offset + offsetOf.length, true)) {
      eraseCustom(view, offset, isEnded)
    }
  }
}
