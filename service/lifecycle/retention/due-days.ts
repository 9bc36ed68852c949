/**
 * Decides which days of raw readings may expire automatically, and which need a person's confirmation. Expiry is final
 * and a clock may be wrong: a day expires automatically only if a reading proves its age, and if the clock passed the
 * days one by one when it became due. Several days that became due at once are pending.
 */

import { bug } from '../../../store/limits/bug.ts'
import type { RawDay } from './expired-days.ts'
import { type ClockHorizon, dayMs } from './horizon.ts'
import type { WaitReason } from './wait-reasons.ts'

/** Due days that stay until a person confirms their deletion. Epoch milliseconds. */
export interface WaitingDays {
  /** Start of the oldest one. */
  fromMs: number
  /** End of the last one. */
  beforeMs: number
  /** Number of them with raw readings. */
  days: number
  reason: WaitReason
}

/** Epoch milliseconds. */
export interface DueDaysOptions extends ClockHorizon {
  /** Days with raw readings that have not expired, ascending. */
  rawDays: readonly RawDay[]
  /** Horizon of the newest applied reading. */
  newestHorizonMs: number
  /** Durable confirmation that the days before this may expire. */
  confirmedMs: number
}

export interface DueDays {
  /** Days before this may expire now; -Infinity for none. Without a confirmation it advances by one day. */
  expireBeforeMs: number
  waiting: WaitingDays | undefined
}

const none: DueDays = { expireBeforeMs: Number.NEGATIVE_INFINITY, waiting: undefined }

export function dueDays(options: DueDaysOptions): DueDays {
  const { rawDays, horizonMs } = options
  for (let at = 1; at < rawDays.length; at++) {
    const [before, day] = [rawDays[at - 1] as RawDay, rawDays[at] as RawDay]
    if (day.startMs <= before.startMs) throw bug(`the day from ${day.startMs} on comes behind ${before.startMs}`)
  }
  const due = decide(options)
  if (due.expireBeforeMs > horizonMs) {
    throw bug(`the days before ${due.expireBeforeMs} are to expire, and the horizon is ${horizonMs}`)
  }
  return due
}

function decide(options: DueDaysOptions): DueDays {
  const { rawDays, horizonMs, steadyMs, confirmedMs } = options
  const [oldest] = rawDays
  if (oldest === undefined || oldest.startMs >= horizonMs) return none
  const { startMs } = oldest
  // A corrected clock also cancels confirmations of the wrong one.
  if (startMs < confirmedMs) return { ...none, expireBeforeMs: Math.min(confirmedMs, steadyMs) }
  const endMs = startMs + dayMs
  const reason = reasonToWait(endMs, options)
  if (reason === undefined) return steadyMs < endMs ? none : { ...none, expireBeforeMs: endMs }
  // A day that became due today may only need the first reading of today.
  if (endMs >= horizonMs) return none
  const days = rawDays.filter(day => day.startMs < horizonMs).length
  return { ...none, waiting: { fromMs: startMs, beforeMs: horizonMs, days, reason } }
}

function reasonToWait(endMs: number, { watchedFromMs, newestHorizonMs }: DueDaysOptions): WaitReason | undefined {
  if (endMs < watchedFromMs) return 'several_days'
  return endMs > newestHorizonMs ? 'no_newer_readings' : undefined
}
