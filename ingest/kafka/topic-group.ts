/** Converts a topic's group for a spool: checked, without erased records, with its lanes chosen again. */

import { groupBodyMax, groupHeaderLength, readGroup } from '../journal/group.ts'
import { chooseLanes, eraseCustom, layoutOf, liveWindowUs, offsetOf, type RecordLayout } from '../journal/record.ts'
import type { GroupContent } from '../journal/segment-writer.ts'
import type { TableDescription } from '../table.ts'
import { letterId, recordsPerGroup } from './letter-id.ts'

/** A future group of the spool, with room for its header in front. */
export interface SpooledGroup {
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
