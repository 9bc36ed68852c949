/** Records on their way to the journal that wait until it is known whether they are stored: in memory, and from a size on in a file. */

import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Append } from './import-session.ts'

type Take = (records: Uint8Array) => ReturnType<Append>

export interface SpoolOptions {
  /** Where the file is made. It has no name from its first byte on, so nothing is left of it when the process is killed. */
  directory: string
  memoryBytesMax: number
  /** Of all records. */
  bytesMax: number
}

export interface Spool {
  /** Takes whole records. */
  add: Take
  bytes(): number
  /** Hands all records on, in their order, until one part is refused: `unknown` when parts before it were taken. */
  moveTo(append: Take): ReturnType<Append>
  close(): Promise<void>
}

const fullCodes = new Set(['ENOSPC', 'EDQUOT'])

export function createSpool({ directory, memoryBytesMax, bytesMax }: SpoolOptions): Spool {
  const parts: Uint8Array[] = []
  /** Of the parts in the file. */
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
      // What the kernel refuses is an error here: a short write is repeated.
      await file.writeFile(records)
      lengths.push(records.length)
      return 'stored'
    } catch (error) {
      if (fullCodes.has((error as NodeJS.ErrnoException).code ?? '')) return 'full'
      throw error
    }
  }

  async function moveTo(append: Take): ReturnType<Append> {
    // At once, so that records of one group are stored at one moment.
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
