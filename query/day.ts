/** One device's local day: cached until the device gets new readings. */

import type { LocalTime } from '../analytics/time/local-time.ts'
import { type Answer, type Body, bodyOf } from './cache/body.ts'
import { encodeBody } from './cache/encode-body.ts'
import type { Serve } from './cache/response-cache.ts'
import type { QueryDevice } from './fleet.ts'
import type { QueryLimits } from './limits.ts'
import type { Replicas } from './replicas.ts'
import type { RunQuery } from './run-query.ts'

export interface DayOptions {
  readonly runQuery: RunQuery
  readonly serve: Serve
  readonly local: LocalTime
  readonly now: () => number
  readonly revision: (deviceNumber: number) => number
  readonly replicas: Replicas
  readonly limits: Pick<QueryLimits, 'aheadMs'>
}

export type Day = (device: QueryDevice, date: string, client: AbortSignal) => Answer | Promise<Answer>

const todayMaxAgeSeconds = 5
/** A day that is over changes only when old readings arrive. */
const pastMaxAgeSeconds = 60

const emptyDay: Body = bodyOf(encodeBody(new TextEncoder().encode('{"temperature":[],"humidity":[],"pressure":[]}')))

export function createDay({ runQuery, serve, local, now, revision, replicas, limits }: DayOptions): Day {
  return (device, date, client) => {
    const range = local.day(date)
    if (range === undefined) return { ok: false, code: 'DATE_INVALID' }
    const nowUs = now() * 1000
    const maxAgeSeconds = range.endUs > nowUs ? todayMaxAgeSeconds : pastMaxAgeSeconds
    // Readings are neither far in the future nor from before 1970, and a zone may have skipped a day.
    const startUs = Math.max(range.startUs, replicas.hourSources().expiredBeforeUs)
    const isEmpty = startUs > nowUs + limits.aheadMs * 1000 || range.endUs <= 0 || startUs >= range.endUs
    if (isEmpty) return { ok: true, body: emptyDay, maxAgeSeconds }
    return serve({
      key: `day/${device.number}/${date}`,
      version: `${revision(device.number)}@${startUs}`,
      // A day of an older version is served only when QuestDB does not answer.
      freshMs: 0,
      staleMs: 0,
      maxAgeSeconds: () => maxAgeSeconds,
      build(_askedAtMs, signal) {
        return runQuery('day', () => ({ symbol: device.symbol, startUs, endUs: range.endUs }), signal)
      },
      client,
    })
  }
}
