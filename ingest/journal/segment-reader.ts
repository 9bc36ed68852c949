/** Reads the journal chunk by chunk, and skips damaged bytes. */

import { bug } from '../../store/limits/bug.ts'
import type { Disk, DiskFile } from './disk.ts'
import { claimedGroupLength, findGroup, type GroupHeader, groupBodyMax, groupHeaderLength, readGroup } from './group.ts'
import { listSegments, segmentName } from './segments.ts'

export interface Chunk {
  /** Valid until the next read. */
  bytes: Uint8Array
  /** Position of `bytes[0]`. */
  position: number
  groups: GroupHeader[]
  /** Positions of bytes outside groups, and whether they are only the zeros of a preallocated file. */
  damaged: { from: number; to: number; zeros: boolean }[]
  /** Position of the next read. Equal to `position` only when nothing more is available before the end. */
  next: number
}

/** Twice the longest group, so that the group after a damaged one is always found. */
export const chunkBytesMax = 2 * (groupBodyMax + groupHeaderLength)

export class SegmentReader {
  readonly #disk: Disk
  /** The buffer is as long as the longest chunk so far: most journals are short, and a start reads several. */
  #buffer = new Uint8Array(0)
  #file: DiskFile | undefined
  #start = 0
  #nextStart: number | undefined

  constructor(disk: Disk) {
    this.#disk = disk
  }

  /** The groups from `position` to `end`, as many as fit into a chunk or are in the segment. */
  read(position: number, end: number, bytesMax = chunkBytesMax): Chunk {
    if (position > end) throw bug(`the journal is read from ${position}, and ends at ${end}`)
    const from = this.#seek(position, end)
    const limit = Math.min(end, this.#nextStart ?? end)
    const wanted = Math.max(0, Math.min(limit - from, bytesMax, chunkBytesMax))
    if (this.#buffer.length < wanted) {
      this.#buffer = new Uint8Array(Math.min(chunkBytesMax, Math.max(wanted, 2 * this.#buffer.length)))
    }
    const count = this.#file?.read(this.#buffer.subarray(0, wanted), from - this.#start) ?? 0
    const bytes = this.#buffer.subarray(0, count)
    // A file that ends before the wanted position is complete: the rest was never written.
    const complete = from + count >= limit || count < wanted
    const chunk: Chunk = { bytes, position: from, groups: [], damaged: [], next: from }
    walk(chunk, complete ? limit : undefined)
    assertWalk(chunk)
    return chunk
  }

  close(): void {
    this.#file?.close()
    this.#file = undefined
  }

  /** Opens the segment with the position. After trimming or a lost file, opens the next one after the gap. */
  #seek(position: number, end: number): number {
    const inside = this.#file !== undefined && position >= this.#start
    if (inside && this.#nextStart !== undefined && position < this.#nextStart) return position
    // The last known segment may have a successor by now.
    const starts = listSegments(this.#disk)
    const start = starts.findLast(candidate => candidate <= position) ?? starts[0]
    if (start === undefined || start >= end) {
      this.close()
      return end
    }
    if (this.#file === undefined || start !== this.#start) {
      this.close()
      this.#file = this.#disk.open(segmentName(start), false)
      this.#start = start
    }
    this.#nextStart = starts.find(candidate => candidate > start)
    return Math.max(position, start)
  }
}

/** Collects the groups of a chunk. `limit` is the end of its segment, when the chunk reaches it. */
function walk(chunk: Chunk, limit: number | undefined): void {
  const { bytes, position } = chunk
  let offset = 0
  while (offset < bytes.length) {
    const group = readGroup(bytes, offset, position + offset)
    if (group !== undefined) {
      chunk.groups.push(group)
      offset += groupHeaderLength + group.bodyLength
      continue
    }
    const found = nextOffset(bytes, offset, position, limit !== undefined)
    if (found === offset) break
    noteDamage(chunk, offset, found)
    offset = found
  }
  chunk.next = limit !== undefined && offset >= bytes.length ? Math.max(limit, position + offset) : position + offset
}

/** Skipped bytes must be in a group or recorded as damaged. Otherwise a reader would lose data silently. */
function assertWalk({ bytes, position, groups, damaged, next }: Chunk): void {
  let covered = 0
  for (const { bodyLength } of groups) covered += groupHeaderLength + bodyLength
  for (const { from, to } of damaged) covered += to - from
  if (covered < Math.min(next - position, bytes.length)) {
    throw bug(`a reader goes from ${position} to ${next}, and accounts for ${covered} bytes`)
  }
}

/** Next offset when no whole group is at `offset`; `offset` itself when more bytes must be read first. */
function nextOffset(bytes: Uint8Array, offset: number, position: number, complete: boolean): number {
  const claimed = claimedGroupLength(bytes, offset)
  const cut = claimed === undefined ? bytes.length - offset < groupHeaderLength : offset + claimed > bytes.length
  if (cut && !complete && offset > 0) return offset
  const found = findGroup(bytes, offset + 1, position)
  if (found !== -1) return found
  if (complete) return bytes.length
  // A group may begin in here and end after the chunk: the next chunk starts early enough to contain it.
  return Math.max(offset + 1, bytes.length - groupBodyMax - groupHeaderLength)
}

function noteDamage(chunk: Chunk, from: number, to: number): void {
  if (to <= from || to > chunk.bytes.length) throw bug(`damage from ${from} to ${to} of ${chunk.bytes.length} bytes`)
  const zeros = chunk.bytes.subarray(from, to).every(byte => byte === 0)
  chunk.damaged.push({ from: chunk.position + from, to: chunk.position + to, zeros })
}
