/**
 * The group: all records that one sync makes durable. The journal's files consist of groups, little endian.
 *
 * | offset | size | content |
 * | --- | --- | --- |
 * | 0 | 4 | magic number |
 * | 4 | 4 | CRC-32 of everything after it: the rest of the header and the body |
 * | 8 | 4 | length of the body in bytes |
 * | 12 | 4 | number of records |
 * | 16 | 4 | number of records for the backfill lane |
 * | 20 | 4 | version of the format |
 * | 24 | 8 | position of the group in the journal, which reveals a stale group in the wrong place |
 * | 32 | 8 | ordinal of its first record: number of records that the journal accepted before it |
 * | 40 | 8 | receipt time of its first record, epoch microseconds, which determines the lanes of all its records |
 * | 48 | 8 | last assigned stamp, epoch microseconds |
 * | 56 | … | the body: records |
 *
 * Positions, ordinals and times are integers in doubles. In a topic position and ordinal are 0, since they are unknown before the
 * group is appended.
 */

import { crc32 } from 'node:zlib'
import { bug } from '../../store/limits/bug.ts'
import { areWholeRecords } from './record.ts'

export const groupHeaderLength = 56
/** Maximum body length: the growth limit of a group while the disk is slow, and the required capacity of a reader. */
export const groupBodyMax = 4 * 1024 * 1024

const magic = 0x3147_5242 // "BRG1"
const version = 1

export interface GroupHeader {
  bodyLength: number
  recordCount: number
  backfillCount: number
  position: number
  firstOrdinal: number
  receiptUs: number
  lastStampUs: number
}

/** Receipt time of the oldest reading of the groups. A group without records, which opens a segment, does not count. */
export function oldestReceiptUs(groups: readonly GroupHeader[]): number | undefined {
  return groups.find(group => group.recordCount > 0)?.receiptUs
}

/** Writes the header in front of a body at `bytes[groupHeaderLength…]`. */
export function sealGroup(bytes: Uint8Array, header: GroupHeader): void {
  const { bodyLength, recordCount, backfillCount } = header
  if (bodyLength > groupBodyMax || groupHeaderLength + bodyLength !== bytes.length) {
    throw bug(`a group of ${bytes.length} bytes is to have a body of ${bodyLength}`)
  }
  if (backfillCount > recordCount) throw bug(`${backfillCount} of ${recordCount} records are late`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  view.setUint32(0, magic, true)
  view.setUint32(8, bodyLength, true)
  view.setUint32(12, recordCount, true)
  view.setUint32(16, backfillCount, true)
  view.setUint32(20, version, true)
  view.setFloat64(24, header.position, true)
  view.setFloat64(32, header.firstOrdinal, true)
  view.setFloat64(40, header.receiptUs, true)
  view.setFloat64(48, header.lastStampUs, true)
  view.setUint32(4, crc32(bytes.subarray(8, groupHeaderLength + bodyLength)), true)
}

/** Reads the group at `offset`, which should be at `position` of the journal. Undefined without a whole, undamaged group. */
export function readGroup(bytes: Uint8Array, offset: number, position: number): GroupHeader | undefined {
  if (offset + groupHeaderLength > bytes.length) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, bytes.length - offset)
  if (view.getUint32(0, true) !== magic) return undefined
  const bodyLength = view.getUint32(8, true)
  const end = groupHeaderLength + bodyLength
  if (bodyLength > groupBodyMax || offset + end > bytes.length) return undefined
  if (view.getUint32(20, true) !== version || view.getFloat64(24, true) !== position) return undefined
  if (crc32(bytes.subarray(offset + 8, offset + end)) !== view.getUint32(4, true)) return undefined
  if (!areWholeRecords(view, groupHeaderLength, end)) return undefined
  return {
    bodyLength,
    recordCount: view.getUint32(12, true),
    backfillCount: view.getUint32(16, true),
    position,
    firstOrdinal: view.getFloat64(32, true),
    receiptUs: view.getFloat64(40, true),
    lastStampUs: view.getFloat64(48, true),
  }
}

/** The group must be whole and undamaged. It starts with its header. */
export function receiptUsOf(group: DataView): number {
  return group.getFloat64(40, true)
}

/** Length that the group at `offset` claims, valid or not. Undefined when no group starts there. */
export function claimedGroupLength(bytes: Uint8Array, offset: number): number | undefined {
  if (offset + groupHeaderLength > bytes.length) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, groupHeaderLength)
  if (view.getUint32(0, true) !== magic) return undefined
  const bodyLength = view.getUint32(8, true)
  return bodyLength > groupBodyMax ? undefined : groupHeaderLength + bodyLength
}

/** Offset of the next undamaged group at or after `offset`, or -1. `position` belongs to `bytes[0]`. */
export function findGroup(bytes: Uint8Array, offset: number, position: number): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = buffer.indexOf(magicBytes, offset); at !== -1; at = buffer.indexOf(magicBytes, at + 1)) {
    if (readGroup(bytes, at, position + at) !== undefined) return at
  }
  return -1
}

const magicBytes = Buffer.from('BRG1', 'latin1')
