/**
 * Common parts of the analytic answers: their first members, and an object around members that are JSON text already.
 */

import { type Reason, reasons } from '../../analytics/reasons.ts'
import { isConstant, type Moments } from '../../analytics/summary/moments.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'

/** The time zone of every text in the answer, and when the answer was made. */
export function answerContext(local: LocalTime, nowMs: number): { time_zone: string; generated_at: string } {
  return { time_zone: local.timeZone, generated_at: local.text(nowMs * 1000) }
}

/** The members of a shape, as JSON text each. */
export type Texts<Shape> = Record<keyof Shape & string, string>

/** Members whose values are JSON text already, in their order. */
export function objectText(members: Readonly<Record<string, string>>): string {
  const texts = Object.entries(members).map(([name, text]) => `${JSON.stringify(name)}:${text}`)
  return `{${texts.join(',')}}`
}

/** The members of a plain object as text, to be put among others that are text already. */
export function memberTexts(members: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]))
}

interface Verdict {
  readonly status: 'ok' | 'no_data' | 'insufficient_data' | 'constant'
  readonly reason: Reason | null
  readonly lack: Lack | null
}

interface Lack {
  readonly needed: number
  readonly found: number
}

export interface Lacking extends Lack {
  readonly reason: Reason
}

/** `moments` describe the cells. `lacking` names the shortage, null if there is none. */
export function verdictOf(moments: Moments, lacking: Lacking | null): Verdict {
  if (moments.count === 0) return { status: 'no_data', reason: reasons.noValue, lack: null }
  if (lacking !== null) {
    const { reason, needed, found } = lacking
    return { status: 'insufficient_data', reason, lack: { needed, found } }
  }
  if (isConstant(moments)) return { status: 'constant', reason: reasons.doesNotVary, lack: null }
  return { status: 'ok', reason: null, lack: null }
}
