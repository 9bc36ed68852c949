/** Creates the notifications of due groups. One node does it for all. */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import { bounds } from '../core/bounds.ts'
import { type Flushed, type FlushOptions, flushGroup } from './flush-group.ts'
import { reviewMs } from './group-plan.ts'
import { hastenFirst, hastenGroups, postponeGroup, readDueGroups, readNextDueMs } from './group-rows.ts'
import { createOverflow } from './overflow.ts'

export interface OutboxOptions extends FlusherOptions {
  log: Pick<Log, 'warn' | 'error'>
  /** Transitions that are found and not committed. */
  backlog: () => number
  /** Called with channels that have new notifications. */
  delivered: (channels: readonly number[]) => void
  waitingMax?: number
}

interface Outbox {
  /** Groups may be due. */
  wake(): void
  /** Notifications that were given up because too many waited. */
  givenUp(): number
  /** Finishes the group that is under way. */
  close(): Promise<void>
}

const idleMs = 5_000
const retryMs = 1_000
const soonMs = 50
/** Longest time for which a group waits for uncommitted transitions. */
const backlogMsMax = 30_000
/** A step of the clock back, not a correction of it. */
const backMs = 1_000

export function createOutbox(options: OutboxOptions): Outbox {
  const { pool, log, nowMs, waits, backlog, delivered, waitingMax = bounds.notificationsWaitingMax } = options
  const overflow = createOverflow({ pool, nowMs, waitingMax, log })
  const leads = () => !isClosed && options.leads()
  let isClosed = false
  let isWoken = false
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  /** Infinity until it has looked whether the clock was set back, which may have been while another node led. */
  let lastMs = Number.POSITIVE_INFINITY

  function wake(): void {
    isWoken = true
    if (isClosed || running !== undefined) return
    clearTimeout(timer)
    running = run().then(waitMs => {
      running = undefined
      if (isClosed) return
      // It was woken again after the groups had been read.
      timer = setTimeout(wake, isWoken ? 0 : waitMs).unref()
    })
  }

  /** Hands back when to look again. */
  async function run(): Promise<number> {
    isWoken = false
    if (!leads()) {
      lastMs = Number.POSITIVE_INFINITY
      return idleMs
    }
    try {
      await lookForSteps()
      while (leads() && (await flush()));
      const inMs = (await readNextDueMs(pool)) - nowMs()
      // Groups stay due for a while during a backlog. Otherwise another transaction has them.
      const leastMs = backlog() > 0 ? retryMs : soonMs
      return Math.min(Math.max(inMs, leastMs), idleMs)
    } catch (error) {
      log.warn({ err: error }, 'notifications of alerts cannot be made at present')
      return retryMs
    }
  }

  async function lookForSteps(): Promise<void> {
    const atMs = nowMs()
    const waitMsMax = Math.max(waits.groupWaitMs, waits.groupIntervalMs) + backMs
    if (atMs < lastMs - backMs) await hastenGroups(pool, atMs, waitMsMax)
    if (lastMs === Number.POSITIVE_INFINITY) {
      // Groups do not wait for uncommitted transitions either.
      await hastenFirst(pool, { startMs: atMs, dueMs: atMs - backlogMsMax, groupWaitMs: waits.groupWaitMs })
    }
    lastMs = atMs
  }

  /** True when more groups may be due. */
  async function flush(): Promise<boolean> {
    const dueMs = nowMs() - (backlog() > 0 ? backlogMsMax : 0)
    const { channels, hasMore } = await flushDue({ ...options, leads }, dueMs)
    if (channels.length > 0) {
      await overflow.check()
      delivered(channels)
    }
    return hasMore
  }

  timer = setTimeout(wake, 0).unref()
  return {
    wake,
    givenUp: overflow.givenUp,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await running
    },
  }
}

interface FlusherOptions extends Omit<FlushOptions, 'nowMs' | 'publicUrl'> {
  pool: pg.Pool
  log: Pick<Log, 'error'>
  nowMs: () => number
  leads: () => boolean
  requireLead: (transaction: Transaction) => Promise<void>
  publicUrl: () => string
}

/** Maximum groups of a run. */
const groupsMax = 100
/** The largest group is flushed in pieces of this size. */
const flushStepMs = 30_000

interface FlushRun {
  /** Channels for which notifications were made. */
  channels: readonly number[]
  /** True when more groups may be due. */
  hasMore: boolean
}

/** Flushes groups that were due at that time. Rejects while PostgreSQL is unavailable. Flushed groups stay flushed. */
async function flushDue(options: FlusherOptions, dueMs: number): Promise<FlushRun> {
  const groups = await readDueGroups(options.pool, dueMs, groupsMax)
  const channels = new Set<number>()
  let count = 0
  for (const id of groups) {
    if (!options.leads()) break
    const flushed = await flushOrPostpone(options, id)
    if (flushed !== undefined) count++
    if (flushed?.channel !== undefined) channels.add(flushed.channel)
  }
  return { channels: [...channels], hasMore: count > 0 && groups.length === groupsMax }
}

/** A group whose notification cannot be created does not hold back other groups. */
async function flushOrPostpone(options: FlusherOptions, id: string): Promise<Flushed | undefined> {
  const { pool, log, nowMs, leads } = options
  try {
    return await flushInTransaction(options, id)
  } catch (error) {
    if (isUnavailable(error) || !leads()) throw error
    log.error({ err: error, group: id }, 'no notification can be made of a group of alerts')
    await postponeGroup(pool, id, nowMs() + reviewMs)
    return { channel: undefined }
  }
}

async function flushInTransaction(options: FlusherOptions, id: string): Promise<Flushed | undefined> {
  const { pool, requireLead, nowMs, publicUrl } = options
  return await inTransaction(pool, { stepMs: flushStepMs }, async transaction => {
    await requireLead(transaction)
    return await flushGroup(transaction, id, { ...options, nowMs: nowMs(), publicUrl: publicUrl() })
  })
}
