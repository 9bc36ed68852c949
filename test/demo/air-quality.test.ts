/** The simulated air-quality stations: what they measure, and how their points reach the service. */

import t from 'tap'
import { airAt } from '../../demo/air-quality/air-model.ts'
import { type AirPoint, airPoints } from '../../demo/air-quality/air-points.ts'
import { runFeed } from '../../demo/air-quality/feed.ts'
import { airStations, instruments } from '../../demo/air-quality/stations.ts'
import { createPointCheck } from '../../ingest/point.ts'
import { basicOf } from '../support/air-quality.ts'
import { startAnswering } from '../support/answering-server.ts'

const minuteMs = 60_000
const nowMs = Date.UTC(2027, 2, 3, 12, 0, 30)
const now = Math.floor(nowMs / minuteMs)
const monthMinutes = 30 * 1_440
const [street, courtyard] = airStations
if (street === undefined || courtyard === undefined) throw new Error('there are two stations')

const month = airPoints(street, now - monthMinutes, now, now)
const valuesOf = (points: AirPoint[], parameter: string) =>
  points.filter(point => point.parameter === parameter).map(({ value }) => value)
const meanOf = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

t.test(
  'a month has almost a point a minute of each parameter, in order, and the service takes each of them',
  async t => {
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
  },
)

t.test('the same minutes give the same points, in whatever pieces', async t => {
  const from = now - 3_000
  const pieces = [0, 7, 500, 2_999, 3_000].flatMap((start, index, starts) => {
    const end = starts[index + 1]
    return end === undefined ? [] : airPoints(street, from + start, from + end, now)
  })
  t.strictSame(pieces, airPoints(street, from, now, now))
  t.notSame(airPoints(courtyard, now - 1, now, now), airPoints(street, now - 1, now, now))
})

t.test('rush hours, ozone at noon, and days of bad air', async t => {
  const atHour = (hour: number, parameter: string) => {
    const isThen = ({ timestamp }: AirPoint) => {
      const local = Date.parse(`${timestamp}Z`) / minuteMs + street.utcOffsetMinutes
      return Math.floor((local % 1_440) / 60) === hour
    }
    return meanOf(valuesOf(month.filter(isThen), parameter))
  }
  t.ok(atHour(18, 'no2') > 2 * atHour(3, 'no2'), 'traffic in the evening')
  t.ok(atHour(8, 'no2') > 1.2 * atHour(3, 'no2'), 'and in the morning')
  t.ok(atHour(13, 'o3') > 2 * atHour(3, 'o3'), 'the sun makes ozone')
  const days = Map.groupBy(month, ({ timestamp }) => timestamp.slice(0, 10))
  const means = [...days.values()].map(points => meanOf(valuesOf(points, 'pm25'))).sort((a, b) => a - b)
  const [low = 0, high = 0] = [means[5], means.at(-3)]
  t.ok(high > 1.7 * low, `${low} and ${high} ugm3 of pm25`)
  for (let minute = now - monthMinutes; minute < now; minute += 11) {
    const { pm1, pm25, pm10 } = airAt(street, minute)
    if (!(pm1 < pm25 && pm25 < pm10)) t.fail(`fine dust is a part of coarse dust: ${pm1}, ${pm25}, ${pm10}`)
  }
})

t.test('stations drop out for hours, but not today', async t => {
  const minutes = new Set(month.map(({ timestamp }) => Date.parse(`${timestamp}Z`) / minuteMs))
  const today = Math.floor(now / 1_440) * 1_440
  const missing = Array.from({ length: monthMinutes }, (_, at) => now - monthMinutes + at).filter(
    at => !minutes.has(at),
  )
  t.ok(missing.length > 60, `${missing.length} minutes without any point`)
  t.strictSame(
    missing.filter(minute => minute >= today),
    [],
  )
})

t.test(
  'a feed sends what is missing in requests of at most 10,000 points, again what is refused for now, then goes on',
  async t => {
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
  },
)

t.test('a feed that has nothing stored begins a month ago, and one that is refused for good stops', async t => {
  const { url, seen } = await startAnswering(t, () => ({ status: 401, text: '{}' }))
  const faults: string[] = []
  await runFeed(street, {
    url,
    key: 'abc',
    signal: new AbortController().signal,
    storedUntil: undefined,
    now: () => nowMs,
    onFault: (name, fault) => faults.push(`${name}: ${fault}`),
    onStored() {
      throw new Error('nothing is stored')
    },
    onCaughtUp: () => t.fail('it is not up to now'),
  })
  t.strictSame(faults, ['DEL-01: 401 {}'])
  const first = (JSON.parse(seen[0]?.body ?? '') as AirPoint[])[0]
  const beganMinutesAgo = now - Date.parse(`${first?.timestamp}Z`) / minuteMs
  t.ok(beganMinutesAgo <= monthMinutes && beganMinutesAgo > monthMinutes - 300)
})
