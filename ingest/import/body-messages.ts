/**
 * Messages between the main thread and the thread that reads bulk bodies, over a port for each body. The main thread
 * forwards the bytes as they arrive, and resolves the names. The other thread does all work on the bytes.
 */

import type { LeftOutValues } from '../formats/chunk.ts'
import type { FieldSightings, PackedFields } from '../formats/field-sightings.ts'
import type { Reject } from '../formats/reject.ts'
import type { BodyFaultCode } from './body-fault.ts'
import type { PackedNames } from './packed-names.ts'
import type { PackedSeries } from './packed-series.ts'

/** Limits for the times of rows. */
export interface BodyTimes {
  nowMs: number
  /** Older readings are rejected. */
  earliestMs: number | undefined
}

/** Pieces of the body, each requested by `more`. */
export type BodyPiece =
  | { kind: 'piece'; bytes: Uint8Array<ArrayBuffer> }
  | { kind: 'end' }
  | { kind: 'broken'; code: BodyFaultCode; reason: string }

export type BodyCommand =
  /** Requests the records of the next chunk. */
  | { kind: 'next' }
  /** Requests the texts of names by their indexes, since their devices have changed. */
  | { kind: 'texts'; indexes: Uint32Array<ArrayBuffer> }
  /** The series of the chunk's names, and the fields of its devices. */
  | { kind: 'series'; series: PackedSeries; fields: PackedFields | undefined }

/** A body may take hours, so each message to the thread has the current times. */
export type ToThread = (BodyPiece | BodyCommand) & { times: BodyTimes }

export interface ChunkRecords {
  /** Lines of the body, including the header and empty lines. */
  lines: number
  records: Uint8Array<ArrayBuffer>
  count: number
  /** Number of rows that replace an earlier one of the body, with the same series and time. */
  replaced: number
  /** Earliest time of the records; Infinity without any. */
  oldestMs: number
  /** In the order of lines. */
  rejects: Reject[]
  rejected: number
  leftOut: LeftOutValues
  /** Names of fields and columns that are not stored, so far. */
  ignored: string[]
}

/** `bytes`: size of the uncompressed body, so far. */
export type BodyReport =
  /** `sightings` where rows may have custom fields. */
  | { kind: 'names'; names: PackedNames; sightings: FieldSightings | undefined; bytes: number }
  | { kind: 'texts'; names: PackedNames; bytes: number }
  | ({ kind: 'records'; bytes: number } & ChunkRecords)
  /** The digest, if requested. */
  | { kind: 'end'; digest: Uint8Array | undefined; bytes: number }
  | { kind: 'failed'; code: BodyFaultCode; reason: string; bytes: number }

export type FromThread = BodyReport | { kind: 'more' }
