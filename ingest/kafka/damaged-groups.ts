/** Records of a topic that are no groups: kept in files for an operator, as the topic removes them when their time has passed. */

import type { Log } from '../../store/log.ts'
import type { Disk } from '../journal/disk.ts'

/** Beyond so many the topic is not ours; what is in it is not kept twice. */
const damagedFilesMax = 1000

export interface DamagedGroupsOptions {
  topic: string
  /** Of a folder for them, which stays. */
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

  /** Keeps the record, which is about to be passed over. Throws when the file cannot be written; then it is to be called again. */
  keep(offset: number, value: Uint8Array): void {
    const { topic, disk, log } = this.#options
    const isKept = this.#files < damagedFilesMax
    if (isKept) {
      disk.replace(`${topic}-${String(offset).padStart(16, '0')}.damaged`, value)
      disk.syncDirectory()
      this.#files++
    }
    this.#count++
    log.error({ topic, offset, isKept }, 'group in the topic corrupted; passed over')
  }
}
