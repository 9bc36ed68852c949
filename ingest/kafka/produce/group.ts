/** The groups of a topic: their records' ids, their check, their form for a spool, and files of damaged ones. */

import { bug } from '../../../store/limits/bug.ts'
import type { Log } from '../../../store/log.ts'
import type { Disk } from '../../journal/disk.ts'
import { groupBodyMax, groupHeaderLength, readGroup } from '../../journal/group.ts'
import { chooseLanes, eraseCustom, layoutOf, liveWindowUs, offsetOf, type RecordLayout } from '../../journal/record.ts'
import type { GroupContent } from '../../journal/segment-writer.ts'
import type { TableDescription } from '../../table.ts'

/** A future group of the spool, with room for its header in front. */
interface SpooledGroup {
  bytes: Uint8Array
  content: GroupContent
}

/** Adjacent whole records. */
interface Run {
  start: number
  end: number
  /** Place of its first record in the group of the topic. */
  index: number
}

/** The layout of the records of a topic. Throws when a group may have more records than ids. */
export function topicLayout(table: TableDescription): RecordLayout {
  const layout = layoutOf(table)
  if (groupBodyMax / layout.lengthMin > recordsPerGroup) {
    throw new Error(`a group may have more than ${recordsPerGroup} records of ${table.name}`)
  }
  return layout
}

/** True when a record of a topic is one undamaged group of records of this table. */
export function isTopicGroup(value: Uint8Array, layout: RecordLayout): boolean {
  const header = readGroup(value, 0, 0)
  if (header === undefined || groupHeaderLength + header.bodyLength !== value.length) return false
  const view = viewOf(value)
  for (let offset = groupHeaderLength; offset < value.length; offset += view.getUint16(offset, true)) {
    const isOfTable = view.getUint8(offset + offsetOf.kind) === layout.kind
    if (!isOfTable || view.getUint16(offset, true) < layout.lengthMin) return false
  }
  return true
}

/**
 * Converts a group of the topic to groups of the spool: one, or none without records, or one for each run of records between
 * erased ones, so that each record keeps its id. Changes the bytes of the value; its header may have been overwritten.
 * `receiptUs`: its time of arrival.
 *
 * A spool assigns no stamps: in their place the header has the id of the first record, made by `letterId`.
 */
export function spooledGroups(
  value: Uint8Array,
  offset: number,
  receiptUs: number,
  erased: ReadonlySet<number>,
): SpooledGroup[] {
  const view = viewOf(value)
  if (erased.size === 0) {
    if (value.length === groupHeaderLength) return []
    return [{ bytes: value, content: contentOf(value, letterId(offset, 0), receiptUs) }]
  }
  return keptRuns(view, erased).map(({ start, end, index }) => {
    const bytes = new Uint8Array(groupHeaderLength + end - start)
    bytes.set(value.subarray(start, end), groupHeaderLength)
    return { bytes, content: contentOf(bytes, letterId(offset, index), receiptUs) }
  })
}

function contentOf(bytes: Uint8Array, firstId: number, receiptUs: number): GroupContent {
  const isLate = (timeUs: number) => timeUs < receiptUs - liveWindowUs
  const counts = chooseLanes(viewOf(bytes), groupHeaderLength, bytes.length - groupHeaderLength, isLate)
  return { ...counts, receiptUs, lastStampUs: firstId }
}

/** The runs exclude records of erased series, and values of erased custom series. */
function keptRuns(view: DataView, erased: ReadonlySet<number>): Run[] {
  const isErased = (number: number) => erased.has(number)
  const runs: Run[] = []
  let run: Run | undefined
  let index = 0
  for (let start = groupHeaderLength; start < view.byteLength; index++) {
    const end = start + view.getUint16(start + offsetOf.length, true)
    if (isErased(view.getUint32(start + offsetOf.series, true))) run = undefined
    else {
      eraseCustom(view, start, isErased)
      if (run === undefined) {
        run = { start, end, index }
        runs.push(run)
      } else run.end = end
    }
    start = end
  }
  return runs
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** A group of 4 MiB has at most some 127,100 records, of 33 bytes (points). */
const recordsPerGroup = 2 ** 17

/**
 * Id of a topic's record, for dead letters and event cursors: one number, in the order of the topic, from the group's offset and
 * the place in the group. Offsets are below 2^36: four years at 500 groups a second.
 */
export function letterId(offset: number, index: number): number {
  const id = offset * recordsPerGroup + index
  const isValid = offset >= 0 && index >= 0 && index < recordsPerGroup && Number.isSafeInteger(id)
  if (!isValid) throw bug(`there is no id for record ${index} of the group at offset ${offset}`)
  return id
}

/** Beyond this many the topic is not ours, so its content is not copied. */
const damagedFilesMax = 1000

interface DamagedGroupsOptions {
  topic: string
  /** Disk of their folder, which persists. */
  disk: Disk
  log: Log
}

/** Invalid records of a topic, kept in files for an operator, since the topic's retention deletes them. */
export class DamagedGroups {
  readonly #options: DamagedGroupsOptions
  #files: number
  #count = 0

  constructor(options: DamagedGroupsOptions) {
    this.#options = options
    this.#files = options.disk.list().length
  }

  /** Number of damaged groups since the start. */
  get count(): number {
    return this.#count
  }

  /** Saves a record before it is skipped. Throws when the file cannot be written, after which it has to be called again. */
  keep(offset: number, value: Uint8Array): void {
    const { topic, disk, log } = this.#options
    const isKept = this.#files < damagedFilesMax
    if (isKept) {
      disk.replace(`${topic}-${String(offset).padStart(16, '0')}.damaged`, value)
      disk.syncDirectory()
      this.#files++
    }
    this.#count++
    log.error({ topic, offset, isKept }, 'group in the topic corrupted; skipped')
  }
}
