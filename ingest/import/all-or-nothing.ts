/** An import that stores nothing before its whole body has arrived and is accepted. Until then the records wait. */

import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Series } from '../formats/row-kind.ts'
import {
  type Append,
  failureOf,
  type Importer,
  type ImportResult,
  type ImportSource,
  type RecordsOf,
} from './import.ts'

/** A complete body, before any of it is stored. */
interface WholeBody extends RecordsOf, Pick<ImportResult, 'report' | 'digest'> {}

type Stored = Awaited<ReturnType<Append>>

interface AllOrNothingOptions {
  importer: Pick<Importer, 'run'>
  /** The journal. */
  append: (records: Uint8Array, term: number) => Promise<Stored>
  /** See `WritePath.term`. */
  term: () => number
  /** True when the journal accepts this many bytes now. */
  hasRoom: (bytes: number) => boolean
  /** Has a body stored by `store`, or returns why not; `refused` where the body's own findings forbid it. */
  decide: (body: WholeBody, store: () => Promise<Stored>) => Promise<Stored | 'refused'>
  spool: SpoolOptions
}

/**
 * Nothing is stored of a rejected or failed body, and `accepted` is 0. Records of more than one group of the journal are not
 * stored atomically: when the process ends meanwhile, a part of an unanswered body is stored.
 */
export async function importAllOrNothing(
  source: ImportSource,
  { importer, append, term: termNow, hasRoom, decide, spool: spoolOptions }: AllOrNothingOptions,
): Promise<ImportResult> {
  const spool = createSpool(spoolOptions)
  const seriesByNumber = new Map<number, Series>()
  let oldestMs = Number.POSITIVE_INFINITY
  const collect: Append = async (records, of) => {
    for (const series of of.series) seriesByNumber.set(series.number, series)
    oldestMs = Math.min(oldestMs, of.oldestMs)
    return await spool.add(records)
  }
  async function store(): Promise<Stored> {
    // All of its parts were authorized at this time, however long they wait for each other.
    const term = termNow()
    return hasRoom(spool.bytes()) ? await spool.moveTo(records => append(records, term)) : 'full'
  }
  try {
    const { onStored, ...rest } = source
    const { report, failure, digest } = await importer.run({ ...rest, append: collect })
    const nothing = { ...report, accepted: 0, replaced: 0 }
    if (failure !== undefined) return { report: nothing, failure }
    const series = [...seriesByNumber.values()]
    const outcome = await decide({ report, digest, series, oldestMs }, store)
    if (outcome === 'refused') return { report: nothing }
    if (outcome !== 'stored') return { report: nothing, failure: failureOf(outcome) }
    onStored?.(series)
    return { report }
  } finally {
    await spool.close()
  }
}

type AppendRecords = (records: Uint8Array) => ReturnType<Append>

interface SpoolOptions {
  /** Folder of the file. The file never has a name, so a killed process leaves nothing behind. */
  directory: string
  memoryBytesMax: number
  /** Limit of all records. */
  bytesMax: number
}

const fullCodes = new Set(['ENOSPC', 'EDQUOT'])

/** Holds records until they are accepted or rejected: in memory, and beyond a size in a file. */
function createSpool({ directory, memoryBytesMax, bytesMax }: SpoolOptions) {
  const parts: Uint8Array[] = []
  /** Lengths of the parts in the file. */
  const lengths: number[] = []
  let file: FileHandle | undefined
  let bytes = 0

  /** Adds whole records. */
  async function add(records: Uint8Array): ReturnType<Append> {
    if (bytes + records.length > bytesMax) return 'too large'
    bytes += records.length
    if (file === undefined && bytes <= memoryBytesMax) {
      parts.push(records)
      return 'stored'
    }
    try {
      file ??= await openNameless(directory)
      // `writeFile` repeats short writes and reports the kernel's errors.
      await file.writeFile(records)
      lengths.push(records.length)
      return 'stored'
    } catch (error) {
      if (fullCodes.has((error as NodeJS.ErrnoException).code ?? '')) return 'full'
      throw error
    }
  }

  /** Passes all records on in order, until one part is refused: `unknown` when earlier parts were stored. */
  async function moveTo(append: AppendRecords): ReturnType<Append> {
    // In one call, so that records of one group are stored atomically.
    const outcome = await append(Buffer.concat(parts))
    if (outcome !== 'stored') return outcome
    let position = 0
    for (const length of lengths) {
      const outcome = await append(await readPart(file as FileHandle, position, length))
      if (outcome !== 'stored') return position === 0 && parts.length === 0 ? outcome : 'unknown'
      position += length
    }
    return 'stored'
  }

  return { add, bytes: () => bytes, moveTo, close: async () => await file?.close() }
}

async function openNameless(directory: string): Promise<FileHandle> {
  const path = join(directory, `.spool-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}

async function readPart(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const part = new Uint8Array(length)
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(part, filled, length - filled, position + filled)
    if (bytesRead === 0) throw new Error('the spool file is shorter than its content')
    filled += bytesRead
  }
  return part
}
