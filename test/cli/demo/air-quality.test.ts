/** The simulated air-quality stations: their values, and the delivery of their points to the service. */

import t from 'tap'
import { type AirPoint, airPoints, runFeed } from '../../../cli/demo/air-quality/feed.ts'
import { airStations, instruments } from '../../../cli/demo/air-quality/stations.ts'
import { createPointCheck } from '../../../ingest/point.ts'
import { basicOf } from '../../support/air-quality.ts'
import { startAnswering } from '../../support/answering-server.ts'

const minuteMs = 60_000
const nowMs = Date.UTC(2027, 2, 3, 12, 0, 30)
const now = Math.floor(nowMs / minuteMs)
const monthMinutes = 30 * 1_440
const [street] = airStations
if (street === undefined) throw new Error('there is no station')

const month = airPoints(street, now - monthMinutes, now, now)
const valuesOf = (points: AirPoint[], parameter: string) =>
  points.filter(point => point.parameter === parameter).map(({ value }) => value)

t.test('a month has almost one valid point a minute of each parameter, in order', async t => {
  const check = createPointCheck(0)
  const refused = month.filter(point => !check({ ...point }, nowMs).ok)
  t.strictSame(refused, [])
  for (const { parameter } of instruments) {
    const share = valuesOf(month, parameter).length / monthMinutes
    t.ok(share > 0.85 && share < 0.999, `${parameter}: ${share}`)
  }
  const times = month.map(({ timestamp }) => Date.parse(`${timestamp}Z`))
  t.strictSame(
    times,
    times.toSorted((a, b) => a - b),
  )
})

t.test('a feed sends missing points in requests of 10,000, even after a 503', async t => {
  const stop = new AbortController()
  const bodies: AirPoint[][] = []
  const { url, seen } = await startAnswering(t, ({ body }, index) => {
    if (index === 1) return { status: 503, headers: { 'retry-after': '0' }, text: '{}' }
    const points = JSON.parse(body) as AirPoint[]
    bodies.push(points)
    return { status: 201, text: JSON.stringify({ stored: points.length, rejected: 0, errors: [] }) }
  })
  let clockMs = nowMs
  const faults: string[] = []
  const stored: number[] = []
  await runFeed(street, {
    url,
    key: 'abc',
    signal: stop.signal,
    retryDelayMs: 1,
    storedUntil: now - 3_000,
    now: () => clockMs,
    onFault: (name, fault) => faults.push(`${name}: ${fault}`),
    onStored(until, count) {
      stored.push(count)
      if (until > now + 1) stop.abort()
    },
    onCaughtUp() {
      clockMs += minuteMs
    },
  })
  t.strictSame(bodies.flat(), airPoints(street, now - 3_000, now + 2, now))
  t.ok(bodies.every(({ length }) => length <= 10_000))
  t.strictSame(
    stored,
    bodies.map(({ length }) => length),
  )
  t.equal(bodies.length, 4, 'three of history, one of a minute')
  t.strictSame(seen[1]?.body, seen[2]?.body)
  t.equal(seen[0]?.headers.authorization, basicOf('abc'))
  t.equal(seen[0]?.url, '/api/v1.0/device/DEL-01/data/')
  t.strictSame(faults, ['DEL-01: 503 {}'])
})
