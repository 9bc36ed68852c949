/** One run of retention: looks which days have expired, and, at the one node that does so, makes expire what is due. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Lease } from '../../auth/nodes/lease.ts'
import type { Log } from '../../store/log.ts'
import type { Exec } from '../../store/questdb/until-applied.ts'
import type { Store } from '../../store/store.ts'
import type { AcceptedFrom } from './accepted-from.ts'
import { dueDays } from './due-days.ts'
import { dayText, type RawDay, readNewestMs } from './expired-days.ts'
import { Expiry, type ExpiryOptions } from './expiry.ts'
import { type ClockHorizon, horizonMs } from './horizon.ts'
import type { RetentionNodes } from './retention-nodes.ts'
import { logWaiting, type RetentionState, stateAtStart } from './retention-state.ts'
import type { SharedLock } from './shared-lock.ts'

interface RetentionTiming {
  checkEveryMs: number
  /** How long a reading may be on its way from its check to the journal, and a clock be wrong. */
  marginMs: number
  /** Longer than a query takes; where there are nodes, by more than `knownMs`. */
  graceMs: number
  /** For how long a node that hears nothing of the others goes by what QuestDB has told it. */
  knownMs?: number
}

export interface RetentionOptions extends Pick<ExpiryOptions, 'exec' | 'ingest'> {
  days: number | undefined
  acceptedFrom: AcceptedFrom
  questdb: Pick<Store['questdb'], 'ready' | 'state'>
  nowMs: () => number
  /** Undefined for a service that is alone. */
  nodes?: RetentionNodes | undefined
  timing: RetentionTiming
  log: Log
}

export interface RetentionRunOptions extends RetentionOptions {
  lock: SharedLock
  monotonicMs: () => number
  /** Brought up to date. */
  state: RetentionState
  signal: AbortSignal
}

export interface RetentionRun {
  /** Rejects with NotLeading where another node leads by now. `clock`: undefined where nothing expires any more. */
  run(clock: ClockHorizon | undefined): Promise<void>
  /** What has expired, and what the node that leads tells. */
  follow(): Promise<void>
  /** Epoch milliseconds. */
  expiredBeforeMs(): number
  /** Whether that is what all nodes go by. */
  isKnown(): boolean
}

/** Another node makes days expire by now. */
export class NotLeading extends Error {}

const pauseMs = 100
/** QuestDB applies within seconds what it has taken, unless something is wrong with it. */
const waitMsMax = 600_000

export function createRetentionRun(options: RetentionRunOptions): RetentionRun {
  const { days, acceptedFrom, nodes, timing, log, monotonicMs, state, signal } = options
  /** Statements of a node that was frozen would meet those of the one that leads now. */
  let isChanging = false
  const exec: Exec = async sql => {
    if (isChanging && nodes?.leads() === false) throw new NotLeading()
    return await options.exec(sql)
  }
  const expiry = new Expiry({ ...options, exec, graceMs: timing.graceMs, tellNodes: nodes?.tell })
  nodes?.onTold(beforeMs => expiry.heard(beforeMs))
  let isLooked = false
  const looked = new Lease(timing.knownMs ?? 0)

  async function look(): Promise<RawDay[]> {
    const done = looked.begin()
    const rawDays = await expiry.look()
    done()
    isLooked = true
    return rawDays
  }

  async function dueBeforeMs(all: readonly RawDay[], clock: ClockHorizon, days: number): Promise<number> {
    const rawDays = all.filter(({ startMs }) => startMs >= expiry.expiredBeforeMs)
    const newestHorizonMs = horizonMs(await readNewestMs(exec), days)
    const due = dueDays({ rawDays, ...clock, newestHorizonMs, confirmedMs: acceptedFrom.raisedMs() })
    if (due.waiting?.reason !== state.waiting?.reason) logWaiting(log, due.waiting)
    state.waiting = due.waiting
    return due.expireBeforeMs
  }

  async function makeExpire(rawDays: readonly RawDay[], clock: ClockHorizon, days: number): Promise<void> {
    const endMs = monotonicMs() + waitMsMax
    const pause = async () => {
      if (monotonicMs() > endMs) throw new Error('QuestDB does not apply what it has taken')
      await sleep(pauseMs, undefined, { signal, ref: false })
    }
    await expiry.expire(await dueBeforeMs(rawDays, clock, days), pause)
    const removed = await expiry.remove(pause)
    for (const { startMs, readings } of removed) {
      log.info({ day: dayText(startMs), readings }, 'raw readings of a day expired; their hours stay')
    }
    state.expiredDays += removed.length
    if (removed.length > 0) state.oldestDayMs = (await expiry.look())[0]?.startMs
  }

  return {
    async run(clock) {
      const rawDays = await look()
      state.oldestDayMs = rawDays[0]?.startMs
      if (clock === undefined || days === undefined) return
      isChanging = true
      try {
        await makeExpire(rawDays, clock, days)
      } finally {
        isChanging = false
      }
    },
    async follow() {
      await look()
      Object.assign(state, stateAtStart(days), await nodes?.read())
    },
    expiredBeforeMs: () => expiry.expiredBeforeMs,
    isKnown: () => isLooked && (nodes === undefined || nodes.isCurrent() || looked.isValid()),
  }
}
