/** Commits one change after the other: in PostgreSQL first, then in memory, and says what came of it. */

import type pg from 'pg'
import type { Mutex } from '../../store/limits/mutex.ts'
import {
  isForeignKeyViolation,
  isUnavailable,
  isUniqueViolation,
  OutcomeUnknown,
} from '../../store/postgres/postgres-errors.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { ChangeFeed } from '../nodes/change-feed.ts'
import { createTurns, type Turns } from '../nodes/turns.ts'
import type { DeviceMemory } from './device-memory.ts'
import type { DeviceRecord, DeviceRow } from './device-record.ts'
import { readNamed } from './device-sql.ts'
import type { Reconciler } from './reconciler.ts'

/**
 * Why a change was not made. Only after OUTCOME_UNKNOWN it may have been made all the same: a device whose revocation
 * that would be logs nothing until it is known, and no other change begins.
 */
export type Refusal =
  | { ok: false; code: 'NAME_TAKEN' | 'NAME_TWICE' | 'METRICS_UNKNOWN'; names: string[] }
  /** Of these accounts one at least is not there. */
  | { ok: false; code: 'OWNER_UNKNOWN' }
  | { ok: false; code: 'DEVICE_UNKNOWN' | 'REGISTRY_FULL' | 'TOO_MANY_CHANGES' | 'DATABASE_AWAY' | 'OUTCOME_UNKNOWN' }
export type Changed<Value> = { ok: true; value: Value } | Refusal

export interface CommitOptions {
  pool: pg.Pool
  feed: ChangeFeed
  memory: DeviceMemory
  mutex: Mutex
  reconciler: Reconciler
  /** How long PostgreSQL may take for each step of a change. */
  stepMs: number
  /** Told why a change could not be made, or may have been made. */
  failed: (error: unknown) => void
}

export interface Commits {
  /** A change that rests on what is in memory, while the mutex is held. */
  inTurn: Turns['run']
  /** One change at a time, so that memory changes in the order of the commits. `names` are those that it gives away. */
  exclusively<Value>(names: readonly string[], work: () => Promise<Changed<Value>>): Promise<Changed<Value>>
  /** Makes a change in PostgreSQL, while the mutex is held. `revokes` are the records whose credentials it ends. */
  transact<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    revokes?: readonly DeviceRecord[],
  ): Promise<Result>
  /** Applies to memory what PostgreSQL has made of a record; without a row it no longer has it. */
  applyRow<Value>(
    record: DeviceRecord,
    row: DeviceRow | undefined,
    answer: (record: DeviceRecord) => Value,
  ): Changed<Value>
}

/**
 * Of all changes of devices, until they are committed: so their sequence numbers become visible in order, and whoever reads
 * what is above the highest one that he knows misses none. Any fixed number serves; it is "barodevs" in ASCII.
 */
const devicesLock = '7089073111209178739'

const away = { ok: false, code: 'DATABASE_AWAY' } as const
export const unknownDevice = { ok: false, code: 'DEVICE_UNKNOWN' } as const

export function createCommits({ pool, feed, memory, mutex, reconciler, stepMs, failed }: CommitOptions): Commits {
  const turns = createTurns({ feed, lock: devicesLock, pool, stepMs })
  /** How often PostgreSQL has left a change without its answer. */
  let failures = 0

  /** PostgreSQL knows a name that memory does not: from now on both do. */
  async function refusalOf(error: unknown, names: readonly string[]): Promise<Refusal> {
    if (isForeignKeyViolation(error, 'devices_owner_fkey')) return { ok: false, code: 'OWNER_UNKNOWN' }
    if (!isUniqueViolation(error, 'devices_name')) throw error
    const rows = await readNamed(pool, names)
    for (const row of rows) memory.apply(row)
    return { ok: false, code: 'NAME_TAKEN', names: rows.map(row => row.name) }
  }

  async function attempt<Value>(
    names: readonly string[],
    work: () => Promise<Changed<Value>>,
  ): Promise<Changed<Value>> {
    try {
      return await turns.run(() => work().catch(error => refusalOf(error, names)))
    } catch (error) {
      const isUnknown = error instanceof OutcomeUnknown
      if (!isUnavailable(error)) throw error
      failures += 1
      failed(error)
      return isUnknown ? { ok: false, code: 'OUTCOME_UNKNOWN' } : away
    }
  }

  return {
    inTurn: turns.run,
    exclusively: async (names, work) => {
      const failuresBefore = failures
      const outcome = await mutex.tryRun(async () => {
        // Those that waited while one met no answer need not each wait for theirs.
        if (failures > failuresBefore) return away
        // What comes next rests on what is in memory.
        if (await reconciler.reconcile()) return await attempt(names, work)
        failures += 1
        return away
      })
      if (outcome === 'full') return { ok: false, code: 'TOO_MANY_CHANGES' }
      // A device that is not there any more may have been removed a moment ago.
      if (outcome.ok || outcome.code === 'DEVICE_UNKNOWN') await feed.settle()
      return outcome
    },
    transact: async (work, revokes = []) => {
      const sequence = memory.sequence()
      try {
        return await turns.transact(work)
      } catch (error) {
        if (error instanceof OutcomeUnknown) {
          const setSuspended = (suspended: boolean) => {
            for (const record of revokes) record.suspended = suspended
          }
          setSuspended(true)
          const { transaction } = error
          reconciler.outcomeUnknown({ transaction, sequence, onReconciled: () => setSuspended(false) })
        }
        throw error
      }
    },
    applyRow: (record, row, answer) => {
      if (row === undefined) {
        // PostgreSQL no longer has it, so its credentials are no longer valid.
        memory.remove(record.number)
        return unknownDevice
      }
      memory.apply(row)
      return { ok: true, value: answer(record) }
    },
  }
}
