/** One device's local day: kept until the device gets new readings. */

import type { LocalTime } from '../analytics/local-time.ts'
import type { Ask } from './asking.ts'
import { type Answer, answerOf, bodyOf, type Kept } from './body.ts'
import type { BodyCache } from './body-cache.ts'
import { finishBody } from './finish.ts'
import type { QueryDevice } from './fleet.ts'
import type { QueryLimits } from './limits.ts'
import type { DayQuestion } from './task.ts'

export interface DayOptions {
  readonly ask: Ask
  readonly cache: BodyCache
  readonly local: LocalTime
  readonly now: () => number
  readonly revision: (deviceNumber: number) => number
  readonly limits: Pick<QueryLimits, 'aheadMs'>
}

export type Day = (device: QueryDevice, date: string, client: AbortSignal) => Answer | Promise<Answer>

const todayMaxAgeSeconds = 5
/** A day that is over changes only when somebody sends old readings. */
const pastMaxAgeSeconds = 60

const emptyDay: Kept = {
  body: bodyOf(finishBody(new TextEncoder().encode('{"temperature":[],"humidity":[],"pressure":[]}'))),
  askedAtMs: 0,
  revision: 0,
}

export function createDay({ ask, cache, local, now, revision, limits }: DayOptions): Day {
  function day(device: QueryDevice, date: string, client: AbortSignal): Answer | Promise<Answer> {
    const range = local.day(date)
    if (range === undefined) return { ok: false, code: 'DATE_INVALID' }
    const nowUs = now() * 1000
    const maxAgeSeconds = range.endUs > nowUs ? todayMaxAgeSeconds : pastMaxAgeSeconds
    // No reading is that far ahead, none is from before 1970, and a zone may have left out a day.
    const isEmpty = range.startUs > nowUs + limits.aheadMs * 1000 || range.endUs <= 0 || range.startUs === range.endUs
    if (isEmpty) return answerOf(emptyDay, maxAgeSeconds)
    const key = `day/${device.number}/${date}`
    // Read before the question is asked: rows that become visible while it is asked raise it, and are asked for again.
    const atRevision = revision(device.number)
    const kept = cache.get(key)
    if (kept?.revision === atRevision) return answerOf(kept, maxAgeSeconds)
    return read({ symbol: device.symbol, ...range }, { key, revision: atRevision, client }, maxAgeSeconds)
  }

  async function read(
    question: DayQuestion,
    asking: { key: string; revision: number; client: AbortSignal },
    maxAgeSeconds: number,
  ): Promise<Answer> {
    const asked = await ask({ ...asking, name: 'day', question: () => question })
    if (asked.ok) return answerOf(asked.kept, maxAgeSeconds)
    // While QuestDB is away an older body is better than none.
    const older = cache.get(asking.key)
    const isAway = asked.code === 'DATABASE_AWAY' || asked.code === 'TIMED_OUT'
    return older === undefined || !isAway ? asked : answerOf(older, 0)
  }

  return day
}
