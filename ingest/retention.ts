/** What of the journal may go, what is kept for a while, and how far we were when the process ends. */

import { writeCheckpoint } from './checkpoint.ts'
import type { Disk } from './disk.ts'
import type { Log } from './log.ts'
import type { Chunk } from './segment-reader.ts'
import { listSegments, quarantineName, segmentName } from './segments.ts'

export interface RetentionOptions {
  disk: Disk
  /** Zero when what QuestDB has applied is on its disk; else how long applied segments are kept for its next crash. */
  keepMs: number
  /** At most this much is kept for that. */
  keepBytesMax: number
  nowMs: () => number
  log: Log
}

const checkpointMs = 1000

export class Retention {
  readonly #options: RetentionOptions
  /** When each segment was first seen to be applied as a whole, by its start. */
  readonly #appliedAtMs = new Map<number, number>()
  #start: number
  #damagedBytes = 0
  #quarantinedTo = 0
  #checkpoint = -1
  #checkpointAtMs = 0

  constructor(options: RetentionOptions, end: number) {
    this.#options = options
    this.#start = listSegments(options.disk)[0] ?? end
  }

  /** Where the oldest segment starts. */
  get start(): number {
    return this.#start
  }

  get damagedBytes(): number {
    return this.#damagedBytes
  }

  /**
   * Removes the segments before `applied`, but for the newest, and for those that are kept for a while; notes now and
   * then how far we are.
   */
  forget(applied: number): void {
    const { disk, keepMs, keepBytesMax, nowMs } = this.#options
    const starts = listSegments(disk)
    for (let index = 0; index + 1 < starts.length; index++) {
      const start = starts[index] as number
      const end = starts[index + 1] as number
      if (end > applied) break
      const appliedAtMs = this.#appliedAtMs.get(start) ?? nowMs()
      this.#appliedAtMs.set(start, appliedAtMs)
      if (nowMs() - appliedAtMs < keepMs && applied - start < keepBytesMax) break
      disk.remove(segmentName(start))
      // One after the other, so that a power cut never brings one back without those behind it: they hold newer values.
      disk.syncDirectory()
      this.#appliedAtMs.delete(start)
      this.#start = end
    }
    if (nowMs() - this.#checkpointAtMs >= checkpointMs) this.saveCheckpoint(applied)
  }

  /** How far we are, for the next start. An old one merely means that more is sent again. */
  saveCheckpoint(applied: number): void {
    if (applied === this.#checkpoint) return
    const { disk, nowMs, log } = this.#options
    try {
      writeCheckpoint(disk, applied)
      this.#checkpoint = applied
      this.#checkpointAtMs = nowMs()
    } catch (error) {
      log.warn({ err: error }, 'the checkpoint cannot be written; more is sent again after the next start')
    }
  }

  /** The journal is sent again: what was applied is to be seen applied anew. */
  restart(): void {
    this.#appliedAtMs.clear()
  }

  /** Damage is kept for a person to look at, and told; everything behind it goes on. */
  quarantine({ bytes, position, damaged }: Chunk): void {
    for (const { from, to, zeros } of damaged) {
      // A round that is planned again meets the same damage again.
      if (zeros || from < this.#quarantinedTo) continue
      this.#options.disk.replace(quarantineName(from, 'middle'), bytes.slice(from - position, to - position))
      this.#damagedBytes += to - from
      this.#quarantinedTo = to
      this.#options.log.error({ from, to }, 'the journal is damaged here; the bytes are kept in quarantine')
    }
  }
}
