/** Retention of the journal: removes applied segments, keeps some of them for a while, and saves the checkpoint. */

import { bug } from '../../store/limits/bug.ts'
import type { Log } from '../../store/log.ts'
import { writeCheckpoint } from '../journal/checkpoint.ts'
import type { Disk } from '../journal/disk.ts'
import type { Chunk } from '../journal/segment-reader.ts'
import { listSegments, quarantineName, segmentName } from '../journal/segments.ts'
import type { Tombstones } from '../journal/tombstones.ts'
import type { Timing } from '../timing.ts'
import { AppliedTimes } from './applied-times.ts'
import type { CommitMode } from './commit-mode.ts'

export interface RetentionOptions {
  disk: Disk
  commitMode: CommitMode
  /** How long applied segments are kept for a QuestDB without sync, which may lose them. */
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
