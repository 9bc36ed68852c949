/** The forwarder's files: dead letters, tombstones, and the segments that may have to be sent again. */

import { Tombstones } from '../journal/tombstones.ts'
import { DeadLetterStore, type DeadLetterStoreOptions } from './dead-letter-store.ts'
import { FileRetry } from './file-retry.ts'
import { type RetentionOptions, SegmentRetention } from './segment-retention.ts'
import type { Sleeper } from './sleeper.ts'

export interface ForwarderFilesOptions
  extends Omit<DeadLetterStoreOptions, 'retry'>,
    Omit<RetentionOptions, 'tombstones'> {
  sleeper: Sleeper
  /** Start position of both lanes. */
  from: number
}

export interface ForwarderFiles {
  /** For work on these files. */
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
