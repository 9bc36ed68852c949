/** Makes notifications of what groups owe, when they are due. One node does it for all. */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import { bounds, type Waits } from '../core/bounds.ts'
import type { AlertDevice } from '../core/devices.ts'
import type { OffsetMs } from '../core/silence.ts'
import { hastenGroups, postponeGroup, readDueGroups, readNextDueMs } from './due-groups.ts'
import { flushGroup, type KindRules } from './flush-group.ts'
import { reviewMs } from './next-due.ts'
import { createOverflow } from './overflow.ts'

export interface OutboxOptions {
  pool: pg.Pool
  log: Pick<Log, 'warn' | 'error'>
  nowMs: () => number
  leads: () => boolean
  requireLead: (transaction: Transaction) => Promise<void>
  waits: Waits
  /** Of the service's time zone. */
  offsetMs: OffsetMs
  publicUrl: () => string
  deviceOf: (number: number) => AlertDevice | undefined
  unitOf: (metric: string) => string | null
  /** Transitions that are found and not committed. */
  backlog: () => number
  kindOf: (kind: string) => KindRules | undefined
  /** Told of channels for which notifications were made. */
  delivered: (channels: readonly number[]) => void
  waitingMax?: number
}

export interface Outbox {
  /** There may be something to tell. */
  wake(): void
  /** Notifications that were given up because too many waited. */
  givenUp(): number
  /** Finishes the group that is under way. */
  close(): Promise<void>
}

const groupsPerRead = 100
const idleMs = 5_000
const retryMs = 1_000
/** Of the largest group, in pieces. */
const stepMs = 30_000
/** So long a group waits for what is found and not committed. */
const backlogMsMax = 30_000
/** A step of the clock back, not a correction of it. */
const backMs = 1_000

export function createOutbox(options: OutboxOptions): Outbox {
  const { pool, log, nowMs, leads, waits, backlog, delivered, waitingMax = bounds.notificationsWaitingMax } = options
  const overflow = createOverflow({ pool, nowMs, waitingMax, log })
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
      while (!isClosed && leads() && (await flushDue()));
      const inMs = (await readNextDueMs(pool)) - nowMs()
      // With a backlog, groups stay due for a while.
      return inMs <= 0 ? retryMs : Math.min(inMs, idleMs)
    } catch (error) {
      log.warn({ err: error }, 'notifications of alerts cannot be made at present')
      return retryMs
    }
  }

  async function lookForSteps(): Promise<void> {
    const atMs = nowMs()
    if (atMs < lastMs - backMs)
      await hastenGroups(pool, atMs, Math.max(waits.groupWaitMs, waits.groupIntervalMs) + backMs)
    lastMs = atMs
  }

  /** Whether there may be more. */
  async function flushDue(): Promise<boolean> {
    const dueMs = nowMs() - (backlog() > 0 ? backlogMsMax : 0)
    const groups = await readDueGroups(pool, dueMs, groupsPerRead)
    let flushed = 0
    const channels = new Set<number>()
    for (const id of groups) {
      if (isClosed || !leads()) break
      const done = await flushOrPostpone(id)
      if (done === undefined) continue
      flushed++
      if (done.channel !== undefined) channels.add(done.channel)
    }
    if (channels.size > 0) {
      await overflow.check()
      delivered([...channels])
    }
    return flushed > 0 && groups.length === groupsPerRead
  }

  /** A group of which no notification can be made keeps no other one back. */
  async function flushOrPostpone(id: string) {
    try {
      return await flush(id)
    } catch (error) {
      if (isUnavailable(error) || !leads()) throw error
      log.error({ err: error, group: id }, 'no notification can be made of a group of alerts')
      await postponeGroup(pool, id, nowMs() + reviewMs)
      return { channel: undefined }
    }
  }

  async function flush(id: string) {
    const { requireLead, offsetMs, deviceOf, unitOf, kindOf } = options
    return await inTransaction(pool, { stepMs }, async transaction => {
      await requireLead(transaction)
      const atMs = nowMs()
      const publicUrl = options.publicUrl()
      return await flushGroup(transaction, id, { nowMs: atMs, waits, offsetMs, publicUrl, deviceOf, unitOf, kindOf })
    })
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
