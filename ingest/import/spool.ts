/** Holds records before the journal until they are accepted or rejected: in memory, and beyond a size in a file. */

import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Append } from './import-session.ts'

type Take = (records: Uint8Array) => ReturnType<Append>

export interface SpoolOptions {
  /** Folder of the file. The file never has a name, so a killed process leaves nothing behind. */
  directory: string
  memoryBytesMax: number
  /** Limit of all records. */
  bytesMax: number
}

export interface Spool {
  /** Adds whole records. */
  add: Take
  bytes(): number
  /** Passes all records on in order, until one part is refused: `unknown` when earlier parts were stored. */
  moveTo(append: Take): ReturnType<Append>
  close(): Promise<void>
}

const fullCodes = new Set(['ENOSPC', 'EDQUOT'])

export function createSpool({ directory, memoryBytesMax, bytesMax }: SpoolOptions): Spool {
  const parts: Uint8Array[] = []
  /** Lengths of the parts in the file. */
  const lengths: number[] = []
  let file: FileHandle | undefined
  let bytes = 0

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

  async function moveTo(append: Take): ReturnType<Append> {
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
