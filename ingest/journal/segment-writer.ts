/**
 * Writes groups to disk in order, and reports the outcome of each. It runs in the journal's thread, where all calls are
 * synchronous.
 */

import { bug } from '../../store/limits/bug.ts'
import type { Disk, DiskFile } from './disk.ts'
import { groupHeaderLength, sealGroup } from './group.ts'
import type { JournalEnd } from './recovery.ts'
import { segmentBytesMax, segmentName } from './segments.ts'

/**
 * `stored`: on disk. `full`: nothing of it is in the journal. `unknown`: a sync failed, and the bytes may or may not be on disk.
 */
type GroupOutcome = 'stored' | 'full' | 'unknown'

export interface GroupContent {
  recordCount: number
  backfillCount: number
  receiptUs: number
  lastStampUs: number
}

export interface Committed {
  outcome: GroupOutcome
  /**
   * Position up to which the journal may be read. A group in an unknown state is excluded until a later one is durable, which
   * includes its stamps. Otherwise the group could be forwarded, then lost in a power failure, and its stamps be assigned again.
   */
  end: number
  error?: unknown
}

export interface SegmentWriterOptions {
  disk: Disk
  /** End of the journal, from recovery. */
  end: JournalEnd
  /** Free space that the journal leaves to others. */
  reserveBytes: number
  segmentBytes?: number
}

interface Segment {
  /** Its position in the journal. */
  start: number
  file: DiskFile
  /** Length of its groups. */
  length: number
  /** Allocated length of the file, with zeros after the groups. */
  allocated: number
}

/**
 * The file is extended by zeros ahead of the groups: a sync over existing blocks needs no entry in the file system's own journal.
 * It took 100 µs instead of 160 on the measured machine.
 */
const allocationBytes = 4 * 1024 * 1024
const zeros = new Uint8Array(256 * 1024)

export class SegmentWriter {
  readonly #disk: Disk
  readonly #reserveBytes: number
  readonly #segmentBytes: number
  readonly #end: JournalEnd
  #segment: Segment | undefined
  #readableEnd: number
  /** No file has valid bytes after this position. */
  #writtenTo: number

  constructor({ disk, end, reserveBytes, segmentBytes }: SegmentWriterOptions) {
    this.#disk = disk
    this.#end = { ...end }
    this.#readableEnd = end.position
    this.#writtenTo = end.position
    this.#reserveBytes = reserveBytes
    this.#segmentBytes = segmentBytes ?? segmentBytesMax
  }

  /** Makes `bytes` durable: room for the header, then the body. */
  commit(bytes: Uint8Array, group: GroupContent): Committed {
    const end = this.#end
    let segment: Segment
    try {
      segment = this.#prepare(bytes.length, group.receiptUs)
    } catch (error) {
      return { outcome: 'full', end: this.#readableEnd, error }
    }
    // Its stamps are used from here on: the forwarder may read the group even when the disk loses it.
    end.lastStampUs = group.lastStampUs
    const segmentEnd = segment.start + segment.length
    if (segmentEnd !== end.position)
      throw bug(`segment ${segment.start} ends at ${segmentEnd}, the journal at ${end.position}`)
    if (segment.length + bytes.length > segment.allocated) {
      throw bug(
        `a segment of ${segment.length} bytes has no room for ${bytes.length}, but for ${segment.allocated} in all`,
      )
    }
    if (end.position < this.#writtenTo) {
      throw bug(`a group goes to ${end.position}, and there may be bytes up to ${this.#writtenTo}`)
    }
    this.#writtenTo = end.position + bytes.length
    const bodyLength = bytes.length - groupHeaderLength
    sealGroup(bytes, { ...group, bodyLength, position: end.position, firstOrdinal: end.ordinal })
    try {
      segment.file.write(bytes, segment.length)
    } catch (error) {
      return this.#cutBack(segment, bytes.length, error)
    }
    try {
      segment.file.sync()
    } catch (error) {
      return this.#abandon(segment, bytes.length, error)
    }
    segment.length += bytes.length
    end.position += bytes.length
    end.ordinal += group.recordCount
    this.#readableEnd = end.position
    return { outcome: 'stored', end: this.#readableEnd }
  }

  /** The next group begins a new segment. */
  roll(): void {
    try {
      this.close()
    } catch {
      // Remaining zeros are harmless, and the file is closed.
    }
  }

  /** Begins a new segment at once, with an empty group. Returns the readable end. Throws when the disk has no room. */
  begin(receiptUs: number): number {
    this.roll()
    this.#segment = this.#openSegment(receiptUs)
    return this.#readableEnd
  }

  /** Truncates the zeros after the last group. It may be called twice. */
  close(): void {
    if (this.#segment === undefined) return
    const { file, length } = this.#segment
    this.#segment = undefined
    try {
      file.truncate(length)
    } finally {
      file.close()
    }
  }

  /** The segment with room for a group of this length, on a disk with enough free space. Throws without one. */
  #prepare(length: number, receiptUs: number): Segment {
    if (this.#segment !== undefined && this.#segment.length + length > this.#segmentBytes) this.close()
    this.#segment ??= this.#openSegment(receiptUs)
    if (this.#segment.length + length > this.#segment.allocated) this.#allocate(this.#segment, length)
    return this.#segment
  }

  /** A segment opens with an empty group, so that the last stamp survives the removal of all earlier segments. */
  #openSegment(receiptUs: number): Segment {
    this.#assertSpace(allocationBytes)
    const { position, ordinal, lastStampUs } = this.#end
    const name = segmentName(position)
    const file = this.#disk.open(name, true)
    try {
      const opening = new Uint8Array(groupHeaderLength)
      const empty = { bodyLength: 0, recordCount: 0, backfillCount: 0, receiptUs, lastStampUs }
      sealGroup(opening, { ...empty, position, firstOrdinal: ordinal })
      file.truncate(0)
      file.write(opening, 0)
      file.sync()
      this.#disk.syncDirectory()
    } catch (error) {
      file.close()
      this.#disk.remove(name)
      throw error
    }
    this.#end.position += groupHeaderLength
    this.#readableEnd = this.#end.position
    return { start: position, file, length: groupHeaderLength, allocated: groupHeaderLength }
  }

  #allocate(segment: Segment, length: number): void {
    const room = Math.max(length, Math.min(allocationBytes, this.#segmentBytes - segment.length))
    const target = segment.length + room
    this.#assertSpace(target - segment.allocated)
    let allocated = segment.allocated
    try {
      while (allocated < target) {
        const piece = zeros.subarray(0, Math.min(zeros.length, target - allocated))
        segment.file.write(piece, allocated)
        allocated += piece.length
      }
    } catch (error) {
      segment.file.truncate(segment.allocated)
      throw error
    }
    try {
      segment.file.sync()
    } catch (error) {
      this.close() // A file is not written again after a failed sync. Its groups were synced before.
      throw error
    }
    segment.allocated = allocated
  }

  #assertSpace(bytes: number): void {
    const free = this.#disk.freeBytes()
    if (free < this.#reserveBytes + bytes) {
      throw new Error(`the disk has ${free} bytes left, and the journal leaves ${this.#reserveBytes} to others`)
    }
  }

  /** Handles a failed write. When its bytes are provably removed again, nothing was stored. */
  #cutBack(segment: Segment, length: number, error: unknown): Committed {
    try {
      segment.file.truncate(segment.length)
      segment.allocated = segment.length
      segment.file.sync()
      this.#writtenTo = this.#end.position
      return { outcome: 'full', end: this.#readableEnd, error }
    } catch {
      return this.#abandon(segment, length, error)
    }
  }

  /**
   * Handles a failed sync: the system may have dropped the pages and would report the next sync as a success, so this file is not
   * written again. The next segment starts after everything that this one may contain.
   */
  #abandon(segment: Segment, length: number, error: unknown): Committed {
    segment.file.close()
    this.#segment = undefined
    this.#end.position += length
    return { outcome: 'unknown', end: this.#readableEnd, error }
  }
}
