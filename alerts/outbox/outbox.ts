/** Creates the notifications of due groups. One node does it for all. */

import type { Log } from '../../store/log.ts'
import { bounds } from '../core/bounds.ts'
import { hastenFirst, hastenGroups, readNextDueMs } from './due-groups.ts'
import { type FlusherOptions, flushDue } from './flush.ts'
import { createOverflow } from './overflow.ts'

export interface OutboxOptions extends FlusherOptions {
  log: Pick<Log, 'warn' | 'error'>
  /** Transitions that are found and not committed. */
  backlog: () => number
  /** Called with channels that have new notifications. */
  delivered: (channels: readonly number[]) => void
  waitingMax?: number
}

export interface Outbox {
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
      // With a backlog, groups stay due for a while. Else another transaction has them.
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
      // Nor for uncommitted transitions.
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
