/** The forwarder's files: dead letters, tombstones, and the segments that may have to be sent again. */

import { setImmediate as turn } from 'node:timers/promises'
import type { Log } from '../../store/log.ts'
import type { Disk } from '../journal/disk.ts'
import { offsetOf } from '../journal/record.ts'
import { Tombstones } from '../journal/tombstones.ts'
import type { TableDescription } from '../table.ts'
import type { Sleeper } from '../timing.ts'
import type { Batch } from './batch.ts'
import {
  deadLettersMax,
  eraseFromLetter,
  letterNames,
  nameOf,
  removeUnfinished,
  writeDeadLetter,
} from './dead-letters.ts'
import { FileRetry, type IssueLog, isSystemError } from './issue-log.ts'
import { type RetentionOptions, SegmentRetention } from './segment-retention.ts'

interface ForwarderFilesOptions extends Omit<DeadLetterStoreOptions, 'retry'>, Omit<RetentionOptions, 'tombstones'> {
  sleeper: Sleeper
  /** Start position of both lanes. */
  from: number
}

export interface ForwarderFiles {
  /** The policy applies to work on these files. */
  retry: FileRetry
  deadLetters: DeadLetterStore
  tombstones: Tombstones
  retention: SegmentRetention
}

export function openForwarderFiles(options: ForwarderFilesOptions): ForwarderFiles {
  const tombstones = new Tombstones(options.disk)
  const retry = new FileRetry(options.issues, options.sleeper)
  return {
    retry,
    deadLetters: new DeadLetterStore({ ...options, retry }),
    tombstones,
    retention: new SegmentRetention({ ...options, tombstones }, options.from),
  }
}

interface DeadLetterStoreOptions {
  table: TableDescription
  disk: Disk
  nowMs: () => number
  log: Log
  issues: IssueLog
  retry: FileRetry
  /** Id of a dead letter, by the position of its record in the journal. */
  letterId: (position: number) => number
}

/** Keeps the rows that QuestDB rejects, up to a limit. */
export class DeadLetterStore {
  readonly #options: DeadLetterStoreOptions
  #count: number

  constructor(options: DeadLetterStoreOptions) {
    this.#options = options
    removeUnfinished(options.disk)
    this.#count = letterNames(options.disk).length
  }

  get count(): number {
    return this.#count
  }

  #recount(): void {
    this.#count = letterNames(this.#options.disk).length
  }

  /**
   * Removes dead letters that the main thread has removed. One rewritten at the same time is removed here for good, since both
   * happen in this thread. Durable when it resolves.
   */
  async removed(ids: readonly number[]): Promise<void> {
    const { disk, retry } = this.#options
    await retry.untilDone('letters', () => {
      for (const id of ids) disk.remove(nameOf(id))
      if (ids.length > 0) disk.syncDirectory()
      this.#recount()
    })
  }

  /**
   * Removes erased series from all dead letters, one per turn, so that the lanes continue meanwhile. Each rewritten file is
   * synced before it replaces the old one, and the directory once after all of them. A crash before that may restore old files,
   * and the unfinished erase starts again. Durable when it resolves, with the names of damaged dead letters, which stay
   * unchanged. Undefined when the forwarder is stopping.
   */
  async erase(erased: ReadonlySet<number>): Promise<string[] | undefined> {
    const { table, disk, retry } = this.#options
    let names: string[] = []
    const isListed = await retry.untilDone('letters', () => {
      names = letterNames(disk)
    })
    if (!isListed) return undefined
    const damaged: string[] = []
    let isChanged = false
    for (const name of names) {
      const isDone = await retry.untilDone('letters', () => {
        const outcome = eraseFromLetter(table, disk, name, erased)
        if (outcome === 'damaged') damaged.push(name)
        isChanged ||= outcome === 'changed'
      })
      if (!isDone) return undefined
      await turn()
    }
    if (!isChanged) return damaged
    const isSynced = await retry.untilDone('letters', () => {
      disk.syncDirectory()
      this.#recount()
    })
    return isSynced ? damaged : undefined
  }

  /** Adds the record at the offset durably. Returns false when it cannot, and the record has to be sent again. */
  put(batch: Batch, offset: number, reason: string): boolean {
    const { table, disk, nowMs, log, issues, letterId } = this.#options
    if (this.#count >= deadLettersMax) {
      issues.note(`there are ${deadLettersMax} dead letters; look at them, then replay or remove them`)
      return false
    }
    const length = batch.view.getUint16(offset + offsetOf.length, true)
    const id = letterId(batch.positionOf(offset))
    try {
      writeDeadLetter(table, disk, id, batch.bytes.subarray(offset, offset + length), reason, nowMs())
      this.#recount()
    } catch (error) {
      if (!isSystemError(error)) throw error
      issues.noteFile('letters', error.message)
      return false
    }
    issues.noteFile('letters', undefined)
    log.error({ id, reason }, 'QuestDB rejected a row; stored as a dead letter')
    return true
  }
}
