/**
 * Which days of raw readings may expire by themselves, and which wait for a person. What has expired is gone, and a clock may be
 * wrong: so a day goes by itself only when there is a reading by which it is old enough, and only when it became due while the
 * clock passed the days one by one. What was due at once, a single day aside, waits.
 */

import { bug } from '../../../store/limits/bug.ts'
import type { RawDay } from './expired-days.ts'
import { type ClockHorizon, dayMs } from './horizon.ts'
import type { WaitReason } from './wait-reasons.ts'

/** Days that are due by the clock, and stay until a person confirms that they may expire. Epoch milliseconds. */
export interface WaitingDays {
  /** The start of the oldest one. */
  fromMs: number
  /** The end of the last one. */
  beforeMs: number
  /** How many of them have raw readings. */
  days: number
  reason: WaitReason
}

/** Epoch milliseconds. */
export interface DueDaysOptions extends ClockHorizon {
  /** Those with raw readings that have not expired, ascending. */
  rawDays: readonly RawDay[]
  /** By the newest reading that is applied. */
  newestHorizonMs: number
  /** The days before this may expire: so was decided, and is durable. */
  confirmedMs: number
}

export interface DueDays {
  /** The days before this may expire now; -Infinity for none. Without a confirmation it is one day at a time. */
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
  // A clock that was put right also ends what was confirmed by the wrong one.
  if (startMs < confirmedMs) return { ...none, expireBeforeMs: Math.min(confirmedMs, steadyMs) }
  const endMs = startMs + dayMs
  const reason = reasonToWait(endMs, options)
  if (reason === undefined) return steadyMs < endMs ? none : { ...none, expireBeforeMs: endMs }
  // One that became due today may only need the first reading of today.
  if (endMs >= horizonMs) return none
  const days = rawDays.filter(day => day.startMs < horizonMs).length
  return { ...none, waiting: { fromMs: startMs, beforeMs: horizonMs, days, reason } }
}

function reasonToWait(endMs: number, { watchedFromMs, newestHorizonMs }: DueDaysOptions): WaitReason | undefined {
  if (endMs < watchedFromMs) return 'several_days'
  return endMs > newestHorizonMs ? 'no_newer_readings' : undefined
}
