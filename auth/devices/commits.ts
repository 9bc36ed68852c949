/** Commits changes of devices one after the other, and hands over the devices of a removed account. */

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
import { ChangeInDoubt } from '../record-cache.ts'
import { TooBusy } from '../too-busy.ts'
import type { DeviceMemory } from './device-memory.ts'
import { type DeviceRecord, type DeviceRow, numbersOf } from './device-record.ts'
import { handOver, readNamed } from './device-sql.ts'
import type { Reconciler } from './reconciler.ts'

/**
 * Reason of a refused change. Only OUTCOME_UNKNOWN leaves open whether it was made: until that is known, a device that
 * it may revoke logs nothing, and no other change begins.
 */
export type Refusal =
  | { ok: false; code: 'NAME_TAKEN' | 'NAME_TWICE' | 'METRICS_UNKNOWN'; names: string[] }
  /** At least one of these accounts does not exist. */
  | { ok: false; code: 'OWNER_UNKNOWN' }
  | { ok: false; code: 'DEVICE_UNKNOWN' | 'REGISTRY_FULL' | 'TOO_MANY_CHANGES' | 'DATABASE_AWAY' | 'OUTCOME_UNKNOWN' }
export type Changed<Value> = { ok: true; value: Value } | Refusal

export interface CommitOptions {
  pool: pg.Pool
  feed: ChangeFeed
  memory: DeviceMemory
  mutex: Mutex
  reconciler: Reconciler
  /** Time limit of PostgreSQL for each step of a change. */
  stepMs: number
  /** Called with the reason of a failed or unknown change. */
  failed: (error: unknown) => void
}

export interface Commits {
  /** Runs a change that depends on memory while the mutex is held. */
  inTurn: Turns['run']
  /** Runs one change at a time, so that memory follows the commits. `names` are the names that it assigns. */
  exclusively<Value>(names: readonly string[], work: () => Promise<Changed<Value>>): Promise<Changed<Value>>
  /** Runs a change in PostgreSQL while the mutex is held. `revokes` are the records whose credentials it ends. */
  transact<Result>(
    work: (transaction: Transaction) => Promise<Result>,
    revokes?: readonly DeviceRecord[],
  ): Promise<Result>
  /** Applies PostgreSQL's row of a record to memory. Without a row, the record was removed. */
  applyRow<Value>(
    record: DeviceRecord,
    row: DeviceRow | undefined,
    answer: (record: DeviceRecord) => Value,
  ): Changed<Value>
}

/**
 * All changes of devices hold this lock until they commit. So sequence numbers become visible in order, and a reader of
 * rows above its highest number misses none. An arbitrary fixed number: "barodevs" in ASCII.
 */
const devicesLock = '7089073111209178739'

const away = { ok: false, code: 'DATABASE_AWAY' } as const
export const unknownDevice = { ok: false, code: 'DEVICE_UNKNOWN' } as const

export function createCommits({ pool, feed, memory, mutex, reconciler, stepMs, failed }: CommitOptions): Commits {
  const turns = createTurns({ feed, lock: devicesLock, pool, stepMs })
  /** Number of changes that PostgreSQL has left unanswered. */
  let failures = 0

  /** PostgreSQL has a name that memory lacks, so memory is read again. */
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
        // Changes that were queued behind an unanswered one fail without waiting themselves.
        if (failures > failuresBefore) return away
        // The next changes depend on memory.
        if (await reconciler.reconcile()) return await attempt(names, work)
        failures += 1
        return away
      })
      if (outcome === 'full') return { ok: false, code: 'TOO_MANY_CHANGES' }
      // An unknown device may have been removed a moment ago.
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

/** Gives the devices of an account to the operator. */
type HandOver = (owner: number, by: string) => Promise<void>

/** Runs a transaction that may hand devices over. Rejects as transactions do. */
export type WithHandOver = <Value>(
  work: (transaction: Transaction, handOver: HandOver) => Promise<Value>,
) => Promise<Value>

interface HandOverOptions extends Pick<CommitOptions, 'memory' | 'mutex' | 'reconciler'> {
  feed: ChangeFeed
  commits: Pick<Commits, 'inTurn' | 'transact'>
}

export function createHandOver({ memory, mutex, reconciler, feed, commits }: HandOverOptions): WithHandOver {
  return async work => {
    const done = await mutex.tryRun(async () => {
      if (!(await reconciler.reconcile())) throw new ChangeInDoubt('a change of a device is not confirmed')
      return await commits.inTurn(async () => {
        const { value, rows } = await commits.transact(async transaction => {
          const handedOver: DeviceRow[] = []
          const result = await work(transaction, async (owner, by) => {
            handedOver.push(...(await handOver(transaction, owner, by)))
          })
          feed.note(transaction, 'device', numbersOf(handedOver))
          return { value: result, rows: handedOver }
        })
        for (const row of rows) memory.apply(row)
        return { value }
      })
    })
    if (done === 'full') throw new TooBusy('too many pending changes of devices', 1)
    return done.value
  }
}
