/** Keeps local copies of archived files: each is written, processed by a thread and removed. */

import { createHash } from 'node:crypto'
import { createWriteStream, mkdirSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Worker } from 'node:worker_threads'
import { threadLimits } from '../../../store/thread-limits.ts'
import { readDisk } from '../disk/disk-space.ts'
import type { DayFileResult, DayFileTask } from './day-file-thread.ts'

export interface SpoolOptions {
  directory: string
  /** Disk space that stays free. */
  reserveBytes: number
  signal: AbortSignal
}

/** Empties the directory: its files are left-overs of an earlier process. */
export class Spool {
  readonly #options: SpoolOptions
  #files = 0

  constructor(options: SpoolOptions) {
    this.#options = options
    rmSync(options.directory, { recursive: true, force: true })
  }

  /** Runs work with paths of files that it may create, and removes them. */
  async with<Result>(count: number, work: (...paths: string[]) => Promise<Result>): Promise<Result> {
    mkdirSync(this.#options.directory, { recursive: true, mode: 0o700 })
    const paths = Array.from({ length: count }, () => join(this.#options.directory, `${this.#files++}.parquet`))
    try {
      return await work(...paths)
    } finally {
      for (const path of paths) await rm(path, { force: true })
    }
  }

  /** Returns the digest of the written bytes. More bytes than the maximum are an error. */
  async write(path: string, from: Readable, bytesMax: number): Promise<string> {
    const { directory, reserveBytes, signal } = this.#options
    try {
      const { freeBytes } = await readDisk(directory)
      if (freeBytes - bytesMax < reserveBytes) {
        throw new Error(`the disk of DATA_DIR has ${freeBytes} bytes free, and ${bytesMax} are needed for a while`)
      }
      const hash = createHash('sha256')
      let bytes = 0
      const hashed = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          hash.update(chunk)
          bytes += chunk.length
          done(bytes > bytesMax ? new Error(`a file is larger than ${bytesMax} bytes`) : null, chunk)
        },
      })
      await pipeline(from, hashed, createWriteStream(path), { signal })
      return hash.digest('hex')
    } finally {
      from.destroy()
    }
  }

  run(task: DayFileTask): Promise<DayFileResult> {
    const { signal } = this.#options
    signal.throwIfAborted()
    const resourceLimits = threadLimits.archive
    const worker = new Worker(new URL('./day-file-thread.ts', import.meta.url), { workerData: task, resourceLimits })
    const end = () => void worker.terminate()
    signal.addEventListener('abort', end, { once: true })
    return new Promise<DayFileResult>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      worker.once('exit', () => reject(signal.reason ?? new Error('the thread of the archive has ended')))
    }).finally(() => {
      signal.removeEventListener('abort', end)
      end()
    })
  }
}
