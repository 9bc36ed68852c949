/** Copies files and trees into a folder durably, and records their digests. The calls are synchronous, for a separate thread. */

import { createHash } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statfsSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { syncFolder } from '../../store/sync-folder.ts'
import { BackupError } from './backup-parts.ts'

/** `path` is relative to the target's folder, as in the manifest. */
export type CopyStep =
  | { kind: 'file'; from: string; path: string; bytesMax: number; isOptional: boolean }
  /** A file that is removed during the copy is left out. */
  | { kind: 'tree'; from: string; path: string }

export interface FileEntry extends Content {
  path: string
}

/** Interval of checking the free space. */
const bytesPerLook = 16 * 1024 ** 2

export class Copy {
  readonly #target: string
  readonly #leaveBytes: number
  #bytesSinceLook = Number.POSITIVE_INFINITY
  readonly #onBytes: (count: number) => void
  readonly #folders = new Set<string>()
  readonly entries: FileEntry[] = []

  /** Throws a BackupError rather than leave less than `leaveBytes` free on the target's disk. */
  constructor(target: string, onBytes: (count: number) => void, leaveBytes = 0) {
    this.#target = target
    this.#leaveBytes = leaveBytes
    this.#onBytes = count => {
      onBytes(count)
      this.#bytesSinceLook += count
    }
  }

  run(step: CopyStep): void {
    if (step.kind === 'tree') this.#copyTree(step.from, step.path)
    else this.#copyFile(step.from, step.path, step.bytesMax, step.isOptional)
  }

  /** After it returns, the names of all copied files are durable. */
  sync(): void {
    for (const folder of this.#folders) syncFolder(folder)
  }

  #copyTree(from: string, path: string): void {
    this.#makeFolder(join(this.#target, path))
    for (const entry of unlessMissing(from, true, () => readdirSync(from, { withFileTypes: true })) ?? []) {
      const [source, below] = [join(from, entry.name), `${path}/${entry.name}`]
      if (entry.isDirectory()) this.#copyTree(source, below)
      else if (entry.isFile()) this.#copyFile(source, below, Number.POSITIVE_INFINITY, true)
      else throw new BackupError(`${source} is neither a file nor a folder.`)
    }
  }

  #copyFile(from: string, path: string, bytesMax: number, isOptional: boolean): void {
    const to = join(this.#target, path)
    this.#makeFolder(dirname(to))
    this.#assertSpace()
    const content = unlessMissing(from, isOptional, () => copyFile(from, to, bytesMax, this.#onBytes))
    if (content !== undefined) this.entries.push({ path, ...content })
  }

  /** Runs before each file: none is much larger than a column of a day. */
  #assertSpace(): void {
    if (this.#bytesSinceLook < bytesPerLook) return
    this.#bytesSinceLook = 0
    const { bavail, bsize } = statfsSync(this.#target)
    if (bavail * bsize >= this.#leaveBytes) return
    throw new BackupError(`The disk of ${this.#target} has less than ${this.#leaveBytes} bytes left: use another one.`)
  }

  #makeFolder(path: string): void {
    if (this.#folders.has(path)) return
    mkdirSync(path, { recursive: true, mode: 0o700 })
    for (let folder = path; folder.length >= this.#target.length; folder = dirname(folder)) this.#folders.add(folder)
  }
}

function unlessMissing<Result>(path: string, isOptional: boolean, work: () => Result): Result | undefined {
  try {
    return work()
  } catch (error) {
    const { code, path: missing } = error as NodeJS.ErrnoException
    if (isOptional && code === 'ENOENT' && missing === path) return undefined
    throw error
  }
}

export interface Content {
  bytes: number
  sha256: string
}

const pieceBytes = 256 * 1024
const zeros = Buffer.alloc(pieceBytes)

/** Reads a file without copying it. */
export function digestFile(from: string, onBytes: (count: number) => void): Content {
  return withFile(from, 'r', source => {
    return readPieces(source, Number.POSITIVE_INFINITY, piece => onBytes(piece.length))
  })
}

/** Copies the first `bytesMax` bytes to the new file `to`. QuestDB's many zero blocks become holes. */
function copyFile(from: string, to: string, bytesMax: number, onBytes: (count: number) => void): Content {
  return withFile(from, 'r', source =>
    withFile(to, 'wx', target => {
      const content = readPieces(source, bytesMax, (piece, position) => {
        if (!piece.equals(zeros.subarray(0, piece.length))) writeAll(target, piece, position)
        onBytes(piece.length)
      })
      ftruncateSync(target, content.bytes)
      fsyncSync(target)
      return content
    }),
  )
}

function withFile<Result>(path: string, flags: 'r' | 'wx', work: (descriptor: number) => Result): Result {
  const descriptor = openSync(path, flags, 0o600)
  try {
    return work(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function readPieces(source: number, bytesMax: number, take: (piece: Buffer, position: number) => void): Content {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(pieceBytes)
  let position = 0
  while (position < bytesMax) {
    const count = readSync(source, buffer, 0, Math.min(pieceBytes, bytesMax - position), position)
    if (count === 0) break
    const piece = buffer.subarray(0, count)
    hash.update(piece)
    take(piece, position)
    position += count
  }
  return { bytes: position, sha256: hash.digest('hex') }
}

function writeAll(target: number, piece: Buffer, position: number): void {
  for (let written = 0; written < piece.length; ) {
    written += writeSync(target, piece, written, piece.length - written, position + written)
  }
}
