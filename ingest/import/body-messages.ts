/**
 * What the main thread and the thread that reads bulk bodies tell each other, over a port for each body. Main hands on the
 * bytes as they come, and looks up the names; whatever looks at a byte is done in the thread.
 */

import type { LeftOutValues } from '../formats/chunk.ts'
import type { FieldSightings } from '../formats/field-sightings.ts'
import type { Reject } from '../formats/reject.ts'
import type { PackedFields } from '../formats/resolved-fields.ts'
import type { BodyFaultCode } from './body-fault.ts'
import type { PackedNames } from './packed-names.ts'
import type { PackedSeries } from './packed-series.ts'

/** By which the times of rows are judged. */
export interface BodyTimes {
  nowMs: number
  /** No reading may be older. */
  earliestMs: number | undefined
}

/** What comes of the body, each asked for by `more`. */
export type BodyPiece =
  | { kind: 'piece'; bytes: Uint8Array<ArrayBuffer> }
  | { kind: 'end' }
  | { kind: 'broken'; code: BodyFaultCode; reason: string }

export type BodyCommand =
  /** Asks for the records of the next chunk. */
  | { kind: 'next' }
  /** Asks for the texts of names, by their indexes: the devices that they stood for have changed. */
  | { kind: 'texts'; indexes: Uint32Array<ArrayBuffer> }
  /** What the names of the chunk stand for, and the fields of its devices. */
  | { kind: 'series'; series: PackedSeries; fields: PackedFields | undefined }

/** A body may take hours, so all that is told to the thread says what time it is. */
export type ToThread = (BodyPiece | BodyCommand) & { times: BodyTimes }

export interface ChunkRecords {
  /** Of the body, with the header and empty ones. */
  lines: number
  records: Uint8Array<ArrayBuffer>
  count: number
  /** How many of them replace an earlier one of the body, of the same series and time. */
  replaced: number
  /** The earliest time of the records; Infinity where there are none. */
  oldestMs: number
  /** In the order of lines. */
  rejects: Reject[]
  rejected: number
  leftOut: LeftOutValues
  /** Names of fields and columns that are stored as no metric, of the body so far. */
  ignored: string[]
}

/** `bytes` are those of the body without its compression, so far. */
export type BodyReport =
  /** `sightings` where rows may have custom fields. */
  | { kind: 'names'; names: PackedNames; sightings: FieldSightings | undefined; bytes: number }
  | { kind: 'texts'; names: PackedNames; bytes: number }
  | ({ kind: 'records'; bytes: number } & ChunkRecords)
  /** The digest is there where one was asked for. */
  | { kind: 'end'; digest: Uint8Array | undefined; bytes: number }
  | { kind: 'failed'; code: BodyFaultCode; reason: string; bytes: number }

export type FromThread = BodyReport | { kind: 'more' }
