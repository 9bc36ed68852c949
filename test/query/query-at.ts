/** What the tests of the queries share: a query with a clock of the test's own, and the bodies that come back. */

import type { Answer, Body } from '../../query/cache/body.ts'
import type { QueryDevice } from '../../query/fleet.ts'
import type { QueryLimits } from '../../query/limits.ts'
import { createQuery, type Query, type QueryOptions } from '../../query/query.ts'
import { createReplicas } from '../../query/replicas.ts'
import type { QuestdbHttp, QuestdbPg } from '../../store/questdb/client/questdb-address.ts'
import { silentLog, type TestHooks } from '../support/databases.ts'

interface Clock {
  /** ISO 8601. */
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
  /** The device's revision, as the ingest would count it. */
  readonly revisions: Map<number, number>
}

export interface TestQueryOptions {
  readonly limits?: Partial<QueryLimits>
  readonly timeZone?: string
  readonly log?: QueryOptions['log']
  readonly answers?: () => boolean | Promise<boolean>
  /** Without one nobody answers over HTTP. */
  readonly http?: QuestdbHttp
}

/** However slow the machine is, only a hang is given up. */
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

/** A device that no other test of the process writes to. */
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

/** A client that stays. */
export function stays(): AbortSignal {
  return new AbortController().signal
}
