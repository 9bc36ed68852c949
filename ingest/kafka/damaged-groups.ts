/** Invalid records of a topic, kept in files for an operator, since the topic's retention deletes them. */

import type { Log } from '../../store/log.ts'
import type { Disk } from '../journal/disk.ts'

/** Beyond this many the topic is not ours, so its content is not copied. */
const damagedFilesMax = 1000

export interface DamagedGroupsOptions {
  topic: string
  /** Disk of their folder, which persists. */
  disk: Disk
  log: Log
}

export class DamagedGroups {
  readonly #options: DamagedGroupsOptions
  #files: number
  #count = 0

  constructor(options: DamagedGroupsOptions) {
    this.#options = options
    this.#files = options.disk.list().length
  }

  /** Since the start. */
  get count(): number {
    return this.#count
  }

  /** Saves a record before it is skipped. Throws when the file cannot be written, after which it has to be called again. */
  keep(offset: number, value: Uint8Array): void {
    const { topic, disk, log } = this.#options
    const isKept = this.#files < damagedFilesMax
    if (isKept) {
      disk.replace(`${topic}-${String(offset).padStart(16, '0')}.damaged`, value)
      disk.syncDirectory()
      this.#files++
    }
    this.#count++
    log.error({ topic, offset, isKept }, 'group in the topic corrupted; skipped')
  }
}
