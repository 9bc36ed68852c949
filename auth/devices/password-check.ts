/** Verifies a device's password. The first use of the newer of two passwords is saved for rotations. */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { createLastSeen, type SeenRecord } from '../last-seen.ts'
import { type ChangeFeed, requireCurrent } from '../nodes/change-feed.ts'
import type { Device } from './device.ts'
import type { DeviceMemory } from './device-memory.ts'
import type { DeviceRecord } from './device-record.ts'
import { saveNextUsed } from './device-sql.ts'
import { digestEquals, digestOf } from './password.ts'

export interface PasswordCheck {
  /** Reads memory, with equal work for an unknown name. Throws LeaseExpired. */
  authenticate(name: string, password: string): Device | undefined
  /** Returns a check for long connections: whether this password is still valid. It throws LeaseExpired. */
  credentialCheck(device: Pick<Device, 'number'>, password: string): () => boolean
}

export interface PasswordCheckOptions {
  pool: pg.Pool
  feed: Pick<ChangeFeed, 'isCurrent'>
  memory: DeviceMemory
  now: () => number
  log: Pick<Log, 'warn'>
  unsavedMax: number
}

/** First use of the newer of two passwords. */
interface PasswordUse extends SeenRecord {
  number: number
  digest: Buffer
}

/** Short, because a rotation after a crash depends on it. */
const flushMs = 100
const usesPerStatement = 5_000

export function createPasswordCheck(options: PasswordCheckOptions): PasswordCheck & { close(): Promise<void> } {
  const { pool, feed, memory, now, log, unsavedMax } = options
  const uses = createLastSeen<PasswordUse>({
    save: batch => {
      const numbers = batch.map(({ number }) => number)
      const digests = batch.map(({ digest }) => digest)
      return saveNextUsed(pool, numbers, digests)
    },
    failed: error => log.warn({ err: error }, 'could not save which passwords are used, retrying'),
    flushMs,
    batchMax: usesPerStatement,
    unsavedMax,
  })

  function accepts(record: DeviceRecord, digest: Buffer): boolean {
    const accepted = record.accepts(digest, now())
    if (accepted === 'first') {
      uses.seen({ number: record.number, digest, lastSeenMs: 0, seenUnsaved: false }, now())
    }
    return accepted !== false
  }

  return {
    authenticate(name, password) {
      requireCurrent(feed)
      const record = memory.get(name)
      const digest = digestOf(password)
      if (record === undefined) {
        digestEquals(digest, undefined)
        return undefined
      }
      return accepts(record, digest) ? record : undefined
    },
    credentialCheck({ number }, password) {
      const digest = digestOf(password)
      return () => {
        requireCurrent(feed)
        const record = memory.byNumber(number)
        return record !== undefined && accepts(record, digest)
      }
    },
    close: uses.close,
  }
}
