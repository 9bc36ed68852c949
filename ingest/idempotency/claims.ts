/**
 * Claims keys for requests: the first request with a key takes a row in PostgreSQL, with the stamp of its reading, and one
 * that is sent again finds it. Both append the same record, which QuestDB stores once, so nobody has to know how far the
 * first one came, and two at once need no lock.
 *
 * Claims that come in while a statement runs share the next one. So they take one connection of the pool, whatever the
 * number of senders.
 */

import type pg from 'pg'
import { bug } from '../../store/limits/bug.ts'
import { createMutex } from '../../store/limits/mutex.ts'
import type { Log } from '../../store/log.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import type { Ingest } from '../ingest.ts'
import { type Claim, claimGroup, type KeyedRequest } from './claim-group.ts'
import { createKeyRows } from './key-rows.ts'
import { createStoredClaims, type StoredClaims } from './stored-claims.ts'
import { createStoredMarks } from './stored-marks.ts'
import { createSweep } from './sweep.ts'

export interface Claims extends StoredClaims {
  claim(request: KeyedRequest): Promise<Claim>
  close(): Promise<void>
}

export interface ClaimsOptions {
  pool: Pick<pg.Pool, 'query'>
  ingest: Pick<Ingest, 'reserveStampsUs'>
  nowMs: () => number
  /** Whether this process removes what has expired. */
  leads?: () => boolean
  log: Log
  /** Rows of one writer. */
  rowsPerWriterMax: number
  limits?: Partial<typeof defaultLimits>
}

const defaultLimits = {
  /** Of all writers, about 1 GiB. */
  rowsMax: 5_000_000,
  waitingMax: 10_000,
  /** Claims that are known to be stored, some 15 MB. */
  storedMax: 100_000,
  claimsPerStatement: 500,
  removedPerStatement: 5000,
  sweepMs: 600_000,
}

interface Waiting {
  request: KeyedRequest
  resolve: (claim: Claim) => void
  reject: (error: unknown) => void
}

export function createClaims(options: ClaimsOptions): Claims {
  const { pool, ingest, nowMs, leads = () => true, log, rowsPerWriterMax } = options
  const limits = { ...defaultLimits, ...options.limits }
  const rows = createKeyRows(pool)
  const groupOptions = { rows, ingest, nowMs, rowsPerWriterMax, rowsMax: limits.rowsMax }
  let waiting: Waiting[] = []
  let isScheduled = false
  let isClosing = false
  /** In PostgreSQL a statement of the sweep and one of claims wait for each other, and would hold two connections. */
  const mutex = createMutex()

  function claim(request: KeyedRequest): Promise<Claim> {
    if (isClosing) return Promise.resolve({ kind: 'closing' })
    if (waiting.length >= limits.waitingMax) return Promise.resolve({ kind: 'too many' })
    return new Promise((resolve, reject) => {
      waiting.push({ request, resolve, reject })
      schedule()
    })
  }

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    void mutex.run(claimNext)
  }

  async function claimNext(): Promise<void> {
    isScheduled = false
    const group = waiting.splice(0, limits.claimsPerStatement)
    if (waiting.length > 0) schedule()
    if (group.length === 0) return
    try {
      const claims = await claimGroup(
        group.map(({ request }) => request),
        groupOptions,
      )
      if (claims.length !== group.length) throw bug(`${group.length} requests have ${claims.length} claims`)
      for (const [index, { resolve }] of group.entries()) resolve(claims[index] as Claim)
    } catch (error) {
      fail(group, error)
    }
  }

  function fail(group: readonly Waiting[], error: unknown): void {
    if (!isUnavailable(error)) {
      for (const { reject } of group) reject(error)
      return
    }
    // Those behind would wait as long for the same answer.
    const all = [...group, ...waiting]
    waiting = []
    for (const { resolve } of all) resolve({ kind: 'database away' })
  }

  const mark = createStoredMarks({ rows, mutex, waitingMax: limits.waitingMax, log })
  const sweep = createSweep({
    leads,
    removeExpired: countMax => mutex.run(() => rows.removeExpired(nowMs(), countMax)),
    intervalMs: limits.sweepMs,
    removedPerStatement: limits.removedPerStatement,
    log,
  })

  return {
    claim,
    once: createStoredClaims(limits.storedMax, mark).once,
    async close() {
      isClosing = true
      await sweep.close()
      await mutex.idle()
    },
  }
}
