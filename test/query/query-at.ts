/** Shared by tests of queries: a query with the test's clock, and the returned bodies. */

import type { Answer, Body } from '../../query/cache/body.ts'
import type { QueryDevice } from '../../query/fleet.ts'
import type { QueryLimits } from '../../query/limits.ts'
import { createQuery, type Query, type QueryOptions } from '../../query/query.ts'
import { createReplicas } from '../../query/replicas.ts'
import type { QuestdbHttp, QuestdbPg } from '../../store/questdb/client/questdb-address.ts'
import { silentLog, type TestHooks } from '../support/databases.ts'

interface Clock {
  time: string
  advance(ms: number): void
}

function clockAt(time: string): Clock {
  return {
    time,
    advance(ms) {
      this.time = new Date(Date.parse(this.time) + ms).toISOString()
    },
  }
}

export interface TestQuery extends Query {
  readonly clock: Clock
  readonly revisions: Map<number, number>
}

export interface TestQueryOptions {
  readonly limits?: Partial<QueryLimits>
  readonly timeZone?: string
  readonly log?: QueryOptions['log']
  readonly answers?: () => boolean | Promise<boolean>
  /** HTTP requests fail without this client. */
  readonly http?: QuestdbHttp
}

/** The limit only ends a hang, also on a slow machine. */
const unhurried = { timeoutMs: 600_000, connectTimeoutMs: 600_000 }
const nowhere: QuestdbHttp = { host: '127.0.0.1', port: 1, tls: false, authorization: undefined }

export function queryAt(
  t: TestHooks,
  pg: QuestdbPg,
  time: string,
  { http = nowhere, limits, answers = () => true, ...options }: TestQueryOptions = {},
): TestQuery {
  const clock = clockAt(time)
  const revisions = new Map<number, number>()
  const query = createQuery({
    replicas: createReplicas([{ address: { pg, http }, answers }]),
    timeZone: 'Europe/Berlin',
    now: () => Date.parse(clock.time),
    revision: number => revisions.get(number) ?? 0,
    log: silentLog,
    limits: { ...unhurried, ...limits },
    ...options,
  })
  t.teardown(() => query.close())
  return { ...query, clock, revisions }
}

let devicesMade = 0

/** A device number that is unique in the process. */
export function makeDevice(name: string, location = ''): QueryDevice {
  devicesMade++
  return { number: devicesMade, symbol: `test-${devicesMade}`, name, location_short: location }
}

export function bodyIn(answer: Answer): Body {
  if (!answer.ok) throw new Error(`there is no body: ${answer.code}`)
  return answer.body
}

export function jsonIn(answer: Answer): unknown {
  return JSON.parse(bodyIn(answer).bytes.toString())
}

export function stays(): AbortSignal {
  return new AbortController().signal
}
