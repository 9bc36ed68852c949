/**
 * How long ago each segment was applied, for a QuestDB that does not sync: what it has applied may be lost for a while. Kept
 * in a small file beside the journal, so that a restart does not begin to count anew. The time between two processes does
 * not count: only the system's clock could tell it, and one that is wrong by a year would have segments forgotten early.
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
  /** Those that were applied in this process. */
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

  /** The segment is applied; if it was before this process, it counts as no older than this. */
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

  /** The segments before this one are gone. */
  prune(oldest: number): void {
    for (const start of this.#appliedAtMs.keys()) {
      if (start >= oldest) continue
      this.#appliedAtMs.delete(start)
      this.#seen.delete(start)
      this.#isSaved = false
    }
  }

  /** What was applied may be lost, and is to be seen applied anew. When it returns, that holds over any restart. */
  clear(): void {
    this.#seen.clear()
    if (this.#appliedAtMs.size === 0) return
    this.#write([])
    this.#options.disk.syncDirectory()
    this.#appliedAtMs.clear()
  }

  /** An old file merely means that segments are kept longer. */
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

/** Nothing from a file that is not there or makes no sense: then segments are kept longer. */
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
