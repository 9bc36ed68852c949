/** Retention of the journal: removes applied segments, keeps some of them for a while, and saves the checkpoint. */

import { bug } from '../../store/limits/bug.ts'
import type { Log } from '../../store/log.ts'
import type { Disk } from '../journal/disk.ts'
import type { Chunk } from '../journal/segment-reader.ts'
import { listSegments, quarantineName, segmentName, writeCheckpoint } from '../journal/segments.ts'
import type { Tombstones } from '../journal/tombstones.ts'
import type { Timing } from '../timing.ts'
import type { CommitMode } from './table-state.ts'

export interface RetentionOptions {
  disk: Disk
  commitMode: CommitMode
  /** Time for which applied segments are kept for a QuestDB without sync, which may lose them. */
  keepMs: number
  /** Size limit of these segments. */
  keepBytesMax: number
  tombstones: Tombstones
  timing: Timing
  log: Log
}

const checkpointMs = 1000
/** Rows sent again at a start were written again, so they are kept longer, whatever their age. */
const keepResentMs = 3_600_000

export class SegmentRetention {
  readonly #options: RetentionOptions
  readonly #applied: AppliedTimes
  /** Earlier processes applied the rows before this position, so long ago that they were not sent again. */
  readonly #from: number
  #start: number
  #damagedBytes = 0
  #quarantinedTo = 0
  #checkpoint = -1
  #checkpointAtMs = Number.NEGATIVE_INFINITY
  #isHeld = false

  /** The lanes begin at `from`. */
  constructor(options: RetentionOptions, from: number) {
    const { disk, timing } = options
    this.#options = options
    this.#applied = new AppliedTimes({ disk, monotonicMs: timing.monotonicMs })
    this.#from = from
    this.#start = listSegments(disk)[0] ?? from
  }

  /** Start of the oldest segment. */
  get start(): number {
    return this.#start
  }

  get damagedBytes(): number {
    return this.#damagedBytes
  }

  /** True while the files stay unchanged for a copy. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
  }

  /**
   * Removes the segments before `applied`, except the newest and those kept for a while, and periodically saves the checkpoint.
   * Throws on a file error, after which it has to be called again.
   */
  trim(applied: number): void {
    const { disk, commitMode, tombstones } = this.#options
    const starts = listSegments(disk)
    const oldest = starts[0] ?? this.#start
    if (oldest < this.#start) throw bug(`segment ${oldest} is there, and all before ${this.#start} were removed`)
    if (!commitMode.isSynced) this.#noteApplied(starts, applied)
    for (let index = 0; index + 1 < starts.length; index++) {
      const start = starts[index] as number
      const end = starts[index + 1] as number
      if (end > applied || this.#isKept(start, applied)) break
      this.#remove(start, end, applied)
    }
    this.#applied.prune(this.#start)
    this.#applied.save()
    tombstones.prune(this.#start)
    this.saveCheckpointIfDue(applied)
  }

  #remove(start: number, end: number, applied: number): void {
    const { disk } = this.#options
    if (end > applied) throw bug(`the segment from ${start} to ${end} is to go, and ${applied} is applied`)
    disk.remove(segmentName(start))
    // One after the other, so that a power failure never restores one without its successors, which hold newer values.
    disk.syncDirectory()
    this.#start = end
  }

  /**
   * Saves the progress for the next start. An old checkpoint only means that more is sent again. Throws when it cannot be
   * written.
   */
  saveCheckpointIfDue(applied: number): void {
    if (this.#isHeld) throw bug('a checkpoint is to be saved while the journal is copied')
    if (applied === this.#checkpoint) return
    if (this.#options.timing.monotonicMs() - this.#checkpointAtMs >= checkpointMs) this.#saveCheckpoint(applied)
  }

  /** Saves the final checkpoint. */
  saveLastCheckpoint(applied: number): void {
    if (applied === this.#checkpoint) return
    try {
      this.#saveCheckpoint(applied)
    } catch (error) {
      this.#options.log.warn(
        { err: error },
        'could not write the checkpoint; the next start replays more of the journal',
      )
    }
  }

  /** The journal is sent again: applied rows have to be applied again. Throws when that cannot be written. */
  restart(): void {
    this.#applied.clear()
  }

  /** Damaged bytes are kept in quarantine files and logged. Reading continues after them. */
  quarantine({ bytes, position, damaged }: Chunk): void {
    for (const { from, to, zeros } of damaged) {
      // A batch that is planned again meets the same damage again.
      if (zeros || from < this.#quarantinedTo) continue
      if (from < position || to > position + bytes.length) {
        throw bug(`damage from ${from} to ${to} is not in the ${bytes.length} bytes from ${position} on`)
      }
      this.#options.disk.replace(quarantineName(from, 'middle'), bytes.slice(from - position, to - position))
      this.#damagedBytes += to - from
      this.#quarantinedTo = to
      this.#options.log.error({ from, to }, 'journal corrupted; damaged bytes moved to quarantine')
    }
  }

  #noteApplied(starts: readonly number[], applied: number): void {
    const { keepMs } = this.#options
    const ageMsOfResent = keepMs - Math.min(keepMs, keepResentMs)
    for (let index = 0; index + 1 < starts.length && (starts[index + 1] as number) <= applied; index++) {
      const start = starts[index] as number
      this.#applied.note(start, start < this.#from ? Number.POSITIVE_INFINITY : ageMsOfResent)
    }
  }

  #isKept(start: number, applied: number): boolean {
    const { commitMode, keepMs, keepBytesMax } = this.#options
    if (commitMode.isSynced || applied - start >= keepBytesMax) return false
    return (this.#applied.ageMs(start) ?? 0) < keepMs
  }

  #saveCheckpoint(applied: number): void {
    const { disk, timing } = this.#options
    this.#checkpointAtMs = timing.monotonicMs()
    writeCheckpoint(disk, applied)
    this.#checkpoint = applied
  }
}

/** Start position for a QuestDB that may have lost applied rows while the service was stopped: older rows are synced. */
export function replayStart(
  { disk, timing, keepMs }: Pick<RetentionOptions, 'disk' | 'timing' | 'keepMs'>,
  end: number,
): number {
  const applied = new AppliedTimes({ disk, monotonicMs: timing.monotonicMs })
  return listSegments(disk).find(start => (applied.ageMs(start) ?? 0) < keepMs) ?? end
}

interface AppliedTimesOptions {
  disk: Disk
  monotonicMs: () => number
}

const fileName = 'applied-ages'
/** A kill loses at most this much of the ages. */
const saveEveryMs = 60_000

/**
 * The time since each segment was applied, for a QuestDB without sync: applied rows may be lost for a while. Kept in a small file
 * beside the journal, so that counting continues after a restart. The time between two processes does not count: only the
 * system's clock could measure it, and an error of a year would remove segments early.
 */
export class AppliedTimes {
  readonly #options: AppliedTimesOptions
  /** Keys are starts of segments. Times are on the monotonic clock. */
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
