/**
 * Series whose rows were erased while the journal still has them: no replay may bring them to QuestDB again. They are
 * in a small file beside the journal, which is on the disk before the first row goes from QuestDB. A tombstone holds for
 * what stands before a position, and goes when the journal has nothing before it any more. Custom series are told apart as
 * `erasedCustom` does.
 */

import { bug } from '../../store/limits/bug.ts'
import type { Disk } from './disk.ts'
import { eraseCustom, offsetOf } from './record.ts'

export interface Erased {
  /** No record from this position on is erased; 0 when none is. */
  readonly before: number
  /** Whether a record of this series at this position is erased. */
  covers(seriesNumber: number, position: number): boolean
}

export const nothingErased: Erased = { before: 0, covers: () => false }

/** Whether the record at `offset`, which is at `position` of the journal, is erased. If not, its custom values that are go. */
export function isRecordErased(erased: Erased, view: DataView, offset: number, position: number): boolean {
  const covers = (series: number) => erased.covers(series, position)
  if (covers(view.getUint32(offset + offsetOf.series, true))) return true
  eraseCustom(view, offset, covers)
  return false
}

export const tombstonesName = 'erased'

export class Tombstones implements Erased {
  readonly #disk: Disk
  /** Where the erased part of the journal ends, by the number of the series. */
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

  /** When it returns, the records of these series before `end` are erased over any restart. */
  add(seriesNumbers: readonly number[], end: number): void {
    const ends = new Map(this.#ends)
    for (const number of seriesNumbers) ends.set(number, Math.max(end, ends.get(number) ?? 0))
    if (ends.size < this.#ends.size || highest(ends) < this.#before) {
      throw bug(`of ${this.#ends.size} tombstones up to ${this.#before} stay ${ends.size}, up to ${highest(ends)}`)
    }
    this.#save(ends)
  }

  /** The journal holds nothing before this position any more. */
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
    // A file that cannot be read now may be read later. One that is damaged must not be taken for an empty one.
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
