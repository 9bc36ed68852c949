/**
 * The time since each segment was applied, for a QuestDB without sync: applied rows may be lost for a while. Kept in a small file
 * beside the journal, so that counting continues after a restart. The time between two processes does not count: only the
 * system's clock could measure it, and an error of a year would remove segments early.
 */

import { bug } from '../../store/limits/bug.ts'
import type { Disk } from '../journal/disk.ts'

export interface AppliedTimesOptions {
  disk: Disk
  monotonicMs: () => number
}

const fileName = 'applied-ages'
/** A kill loses at most this much of the ages. */
const saveEveryMs = 60_000

export class AppliedTimes {
  readonly #options: AppliedTimesOptions
  /** On the monotonic clock, by the segment's start. */
  readonly #appliedAtMs: Map<number, number>
  /** Segments that were applied in this process. */
  readonly #seen = new Set<number>()
  #isSaved = true
  #savedAtMs: number

  constructor(options: AppliedTimesOptions) {
    this.#options = options
    this.#appliedAtMs = readTimes(options)
    this.#savedAtMs = options.monotonicMs()
  }

  /** Undefined for a segment that is not known to be applied. */
  ageMs(start: number): number | undefined {
    const atMs = this.#appliedAtMs.get(start)
    return atMs === undefined ? undefined : this.#options.monotonicMs() - atMs
  }

  /** Marks the segment as applied. If an earlier process applied it, its age counts as at most this. */
  note(start: number, ageMsMax: number): void {
    if (this.#seen.has(start)) {
      if (!this.#appliedAtMs.has(start)) throw bug(`segment ${start} was seen applied at no time`)
      return
    }
    this.#seen.add(start)
    const ageMs = Math.min(this.ageMs(start) ?? 0, ageMsMax)
    if (ageMs < 0) throw bug(`segment ${start} was applied ${-ageMs} ms ahead`)
    this.#appliedAtMs.set(start, this.#options.monotonicMs() - ageMs)
    this.#isSaved = false
  }

  /** Removes the segments before this one. */
  prune(oldest: number): void {
    for (const start of this.#appliedAtMs.keys()) {
      if (start >= oldest) continue
      this.#appliedAtMs.delete(start)
      this.#seen.delete(start)
      this.#isSaved = false
    }
  }

  /** Applied rows may be lost and have to be applied again. Durable when it returns. */
  clear(): void {
    this.#seen.clear()
    if (this.#appliedAtMs.size === 0) return
    this.#write([])
    this.#options.disk.syncDirectory()
    this.#appliedAtMs.clear()
  }

  /** An old file only keeps segments longer. */
  save(): void {
    const nowMs = this.#options.monotonicMs()
    const isDue = this.#appliedAtMs.size > 0 && nowMs - this.#savedAtMs >= saveEveryMs
    if (this.#isSaved && !isDue) return
    this.#write([...this.#appliedAtMs].map(([start, atMs]) => [start, Math.round(nowMs - atMs)]))
  }

  #write(ages: readonly (readonly number[])[]): void {
    const { disk, monotonicMs } = this.#options
    disk.replace(fileName, Buffer.from(JSON.stringify(ages)))
    this.#savedAtMs = monotonicMs()
    this.#isSaved = true
  }
}

function readTimes({ disk, monotonicMs }: AppliedTimesOptions): Map<number, number> {
  const times = new Map<number, number>()
  for (const [start, ageMs] of readPairs(disk)) times.set(start, monotonicMs() - Math.max(0, ageMs))
  return times
}

/** Returns nothing for a missing or invalid file, which only keeps segments longer. */
function readPairs(disk: Disk): [number, number][] {
  try {
    const file = disk.open(fileName, false)
    const bytes = new Uint8Array(file.size())
    file.read(bytes, 0)
    file.close()
    const pairs: unknown = JSON.parse(Buffer.from(bytes).toString())
    return Array.isArray(pairs) ? pairs.filter(isPair) : []
  } catch {
    return []
  }
}

function isPair(value: unknown): value is [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger)
}
