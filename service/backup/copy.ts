/** Copies files and trees into a folder and records their digests. */

import { mkdirSync, readdirSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncFolder } from '../../store/sync-folder.ts'
import { BackupError } from './backup-error.ts'
import { type Content, copyFile } from './copied-file.ts'

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
