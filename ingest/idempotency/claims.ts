/**
 * Claims keys for requests: the first request with a key takes a row in PostgreSQL, with the stamp of its reading, and a retry
 * finds it. Both append the same record, which QuestDB stores once. So the progress of the first one does not matter, and two
 * concurrent requests need no lock.
 *
 * Claims that arrive while a statement runs share the next one. So they take one connection of the pool, whatever the number of
 * senders.
 */

import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { bug } from '../../store/limits/bug.ts'
import { createMutex, type Mutex } from '../../store/limits/mutex.ts'
import type { Log } from '../../store/log.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import type { Ingest } from '../ingest.ts'
import type { Outcome } from '../journal/outcome.ts'
import { type Claim, type ClaimedKey, claimGroup, type KeyedRequest } from './claim-group.ts'
import { createKeyRows, type KeyRows, markOf, type StoredMark } from './key-rows.ts'

export interface Claims extends StoredClaims {
  claim(request: KeyedRequest): Promise<Claim>
  close(): Promise<void>
}

export interface ClaimsOptions {
  pool: Pick<pg.Pool, 'query'>
  ingest: Pick<Ingest, 'reserveStampsUs'>
  nowMs: () => number
  /** True when this process removes expired keys. */
  leads?: () => boolean
  log: Log
  /** Rows of one writer. */
  rowsPerWriterMax: number
  limits?: Partial<typeof defaultLimits>
}

const defaultLimits = {
  /** Rows of all writers, about 1 GiB. */
  rowsMax: 5_000_000,
  waitingMax: 10_000,
  /** Claims known to be stored, some 15 MB. */
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
  /** The sweep and the claims would block each other in PostgreSQL and hold two connections. */
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
    // Later requests would wait as long for the same answer.
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

interface StoredMarksOptions {
  rows: Pick<KeyRows, 'mark'>
  mutex: Mutex
  /** Claims beyond this number are not marked. */
  waitingMax: number
  log: Pick<Log, 'warn'>
}

/**
 * Marks that arrive while a statement runs share the next one. A retry of an unmarked claim at another process is stored again.
 */
function createStoredMarks({ rows, mutex, waitingMax, log }: StoredMarksOptions): (mark: StoredMark) => void {
  let waiting: StoredMark[] = []

  async function writeNext(): Promise<void> {
    const marks = waiting
    waiting = []
    try {
      await rows.mark(marks)
    } catch (error) {
      log.warn({ err: error, keys: marks.length }, 'cannot mark stored requests with idempotency keys')
    }
  }

  return mark => {
    if (waiting.length >= waitingMax) return
    waiting.push(mark)
    if (waiting.length === 1) void mutex.run(writeNext)
  }
}

interface SweepOptions {
  /** True when this process runs the sweep. */
  leads: () => boolean
  /** Removes at most this many rows, and returns their number. */
  removeExpired: (countMax: number) => Promise<number>
  intervalMs: number
  removedPerStatement: number
  log: Log
}

/** Removes expired keys in batches. The time of removal affects only the room for new keys. */
function createSweep(options: SweepOptions): { close(): Promise<void> } {
  const { leads, removeExpired, intervalMs, removedPerStatement, log } = options
  let running: Promise<void> = Promise.resolve()
  let isClosing = false

  async function removeAll(): Promise<void> {
    for (let isDone = false; !isDone && !isClosing && leads(); ) {
      const removed = await removeExpired(removedPerStatement)
      isDone = removed < removedPerStatement
    }
  }

  const timer = setInterval(() => {
    running = removeAll().catch((error: unknown) => {
      log.warn({ err: error }, 'cannot remove expired idempotency keys, retrying at the next run')
    })
  }, intervalMs)
  timer.unref()
  return {
    async close() {
      isClosing = true
      clearInterval(timer)
      await running
    },
  }
}

/*
 * The claims whose records are stored: by this process, or marked in PostgreSQL. A retry finds its claim here and is not stored
 * again. Otherwise listeners would get it twice, and a replaced value would come back.
 */

interface StoredClaims {
  /**
   * Appends the records of the claim, unless they are stored or in progress. `of` identifies their devices, in at most 64
   * characters. `append` may refuse.
   */
  once<Refusal>(claim: ClaimedKey, of: string, append: () => Promise<Outcome | Refusal>): Promise<Outcome | Refusal>
}

/**
 * `mark` is called shortly afterwards with the claims to mark in PostgreSQL. Stamped readings need no mark: their time is unique,
 * so storing one again replaces only itself.
 */
export function createStoredClaims(countMax: number, mark: (mark: StoredMark) => void): StoredClaims {
  const outcomes = new LRUCache<string, Promise<unknown>>({ max: countMax })
  return {
    async once({ id: claimId, stampUs, row }, of, append) {
      if (row.storedAs === markOf(row, of)) return 'stored'
      const id = `${claimId} ${of}`
      for (let earlier = outcomes.get(id); earlier !== undefined; ) {
        if ((await earlier) === 'stored') return 'stored'
        const latest = outcomes.get(id)
        // The first waiting request appends now, and the others wait for it.
        earlier = latest === earlier ? undefined : latest
      }
      const outcome = append()
      const settled = outcome.catch(() => undefined)
      outcomes.set(id, settled)
      const became = await outcome
      if (became === 'stored' && stampUs === undefined) {
        mark({ writer: row.writer, keyDigest: row.keyDigest, storedAs: markOf(row, of) })
      }
      return became
    },
  }
}
