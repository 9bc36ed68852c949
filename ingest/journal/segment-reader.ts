/** Reads the journal back, chunk by chunk, and walks around what is damaged. */

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
  /** Positions of bytes that belong to no group, and whether they are more than the zeros of a file grown ahead. */
  damaged: { from: number; to: number; zeros: boolean }[]
  /** Where to read on; equal to `position` only when there is nothing more before the end. */
  next: number
}

/** Two of the longest groups, so that behind a damaged one the next is always found. */
export const chunkBytesMax = 2 * (groupBodyMax + groupHeaderLength)

export class SegmentReader {
  readonly #disk: Disk
  /** As long as the longest chunk so far: most journals are short, and a start reads several. */
  #buffer = new Uint8Array(0)
  #file: DiskFile | undefined
  #start = 0
  #nextStart: number | undefined

  constructor(disk: Disk) {
    this.#disk = disk
  }

  /** The groups from `position` on that stand before `end`, as many as fit into a chunk or the segment has. */
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
    // A file that ends before the wanted position holds nothing more: the rest was never written.
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

  /** Opens the segment that holds the position; where trimming or a lost file left a gap, the next one behind it. */
  #seek(position: number, end: number): number {
    const inside = this.#file !== undefined && position >= this.#start
    if (inside && this.#nextStart !== undefined && position < this.#nextStart) return position
    // The last segment that we know may have got a successor since.
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

/** Collects the groups of a chunk. `limit` is where its segment ends, when the chunk reaches that far. */
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

/** What is passed over is in a group or was noted as damaged, else a reader would skip it and nobody would know. */
function assertWalk({ bytes, position, groups, damaged, next }: Chunk): void {
  let covered = 0
  for (const { bodyLength } of groups) covered += groupHeaderLength + bodyLength
  for (const { from, to } of damaged) covered += to - from
  if (covered < Math.min(next - position, bytes.length)) {
    throw bug(`a reader goes from ${position} to ${next}, and accounts for ${covered} bytes`)
  }
}

/** Where to go on when no whole group stands at `offset`; `offset` itself when more bytes must be read first. */
function nextOffset(bytes: Uint8Array, offset: number, position: number, complete: boolean): number {
  const claimed = claimedGroupLength(bytes, offset)
  const cut = claimed === undefined ? bytes.length - offset < groupHeaderLength : offset + claimed > bytes.length
  if (cut && !complete && offset > 0) return offset
  const found = findGroup(bytes, offset + 1, position)
  if (found !== -1) return found
  if (complete) return bytes.length
  // A group may begin in here and end behind the chunk: start the next chunk early enough to see it whole.
  return Math.max(offset + 1, bytes.length - groupBodyMax - groupHeaderLength)
}

function noteDamage(chunk: Chunk, from: number, to: number): void {
  if (to <= from || to > chunk.bytes.length) throw bug(`damage from ${from} to ${to} of ${chunk.bytes.length} bytes`)
  const zeros = chunk.bytes.subarray(from, to).every(byte => byte === 0)
  chunk.damaged.push({ from: chunk.position + from, to: chunk.position + to, zeros })
}
