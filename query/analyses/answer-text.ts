/**
 * Common parts of the analytic answers: their first members, and an object around members that are JSON text already.
 */

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
