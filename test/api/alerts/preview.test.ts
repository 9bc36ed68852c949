/** The preview by HTTP: its range, whose devices it reads, and what is answered when it cannot be made. */

import t from 'tap'
import type { Alerts } from '../../../alerts/alerts.ts'
import type { AlertDevice } from '../../../alerts/core/devices.ts'
import type { AlertReadings, AskedReadings } from '../../../alerts/core/readings.ts'
import { createPreview } from '../../../alerts/preview/preview.ts'
import { BodyInterrupted } from '../../../query/pieces.ts'
import { startAlertsApi } from '../../support/alerts-api.ts'
import { until } from '../../support/processes.ts'

const nowMs = Date.UTC(2026, 10, 26)
const [hourMs, dayMs] = [3_600_000, 86_400_000]
const owners = new Map<number, number>()
const device = (number: number): AlertDevice => ({
  number,
  symbol: `d-${number}`,
  name: `d${number}`,
  tags: [],
  owner: owners.get(number) ?? null,
  log_switch: true,
  location_short: '',
})

let reads: (asked: AskedReadings, signal: AbortSignal) => AsyncIterable<AlertReadings> = hot
const asked: AskedReadings[] = []

/** A reading each hour, all of them hot. */
async function* hot(what: AskedReadings): AsyncGenerator<AlertReadings> {
  asked.push(what)
  for (let timeUs = what.fromUs; timeUs < what.toUs; timeUs += hourMs * 1000) {
    yield {
      device: Int32Array.from(what.devices, ({ number }) => number),
      timesUs: Float64Array.from(what.devices, () => timeUs),
      values: what.columns.map(() => Float64Array.from(what.devices, () => 35)),
      length: what.devices.length,
    }
  }
}

const { people, ask, app } = await startAlertsApi(t, () => {
  const preview = createPreview({
    devices: {
      all: () => [1, 2, 3].map(device),
      mayRead: (owner, { owner: of }) => owner === null || owner === of,
      seriesOf: () => undefined,
      qualityOf: () => undefined,
    },
    readings: (...words) => reads(...words),
    silenceOf: () => undefined,
    timeZone: 'UTC',
    nowMs: () => nowMs,
    limits: { readingsMax: 2000 },
  })
  t.teardown(() => preview.close())
  const alerts = { preview } as unknown as Alerts
  return { alerts, numberOf: () => undefined, deviceOf: () => undefined, timeZone: 'UTC', nowMs: () => nowMs }
})

const ada = await people.person('ada@example.com')
owners.set(2, ada)
const ofAda = { cookie: (await people.cookieOf(ada)).cookie, origin: 'https://app.example' }
const path = '/api/alert-rules/preview'
const rule = { name: 'warm', selector: { all: true }, condition: { kind: 'above', metric: 'temperature', value: 30 } }
const text = (ms: number) => new Date(ms).toISOString()

t.test('without a range it is about the last 30 days', async t => {
  t.match(await ask('POST', path, { rule: { ...rule, selector: { devices: ['d1'] } } }), {
    status: 200,
    body: {
      supported: true,
      from: text(nowMs - 30 * dayMs),
      to: text(nowMs),
      devices: [{ device: 'd1', count: 1, intervals: [{ from: text(nowMs - 30 * dayMs), to: null }] }],
      weeks: { length: 5 },
    },
  })
  const range = { from: '2026-11-20T02:00:00+02:00', to: '2027-01-01T00:00:00Z' }
  t.match(await ask('POST', path, { rule, ...range }), { body: { from: '2026-11-20T00:00:00.000Z', to: text(nowMs) } })
})

t.test('a person’s preview is of their own devices', async t => {
  asked.length = 0
  const from = text(nowMs - dayMs)
  const { body } = await ask('POST', path, { rule, from }, ofAda)
  t.match(body, { devices: [{ device: 'd2' }], total: 1 })
  t.equal((body as { devices: unknown[] }).devices.length, 1)
  t.match(await ask('POST', path, { rule: { ...rule, selector: { devices: ['d1', 'd3'] } }, from }, ofAda), {
    status: 200,
    body: { devices: [], total: 0 },
  })
  t.strictSame(
    asked.flatMap(({ devices }) => devices.map(({ number }) => number)),
    [2],
  )
})

t.test('a range that cannot be is refused', async t => {
  const ranges = [
    { from: text(nowMs - 367 * dayMs) },
    { from: text(nowMs) },
    { from: text(nowMs - dayMs), to: text(nowMs - 2 * dayMs) },
    { from: '1969-12-31T00:00:00Z', to: '1970-01-02T00:00:00Z' },
  ]
  for (const range of ranges) {
    t.match(
      await ask('POST', path, { rule, ...range }),
      { status: 422, body: { errors: [{ path: 'from' }] } },
      JSON.stringify(range),
    )
  }
  for (const from of ['yesterday', '2026-11-20T00:00:00', 1_780_000_000_000]) {
    t.match(
      await ask('POST', path, { rule, from }),
      { status: 422, body: { errors: [{ path: 'from' }] } },
      String(from),
    )
  }
  t.match(await ask('POST', path, { rule: { ...rule, for_seconds: -1 } }), {
    status: 422,
    body: { errors: [{ path: 'rule.for_seconds' }] },
  })
  t.match(await ask('POST', path, rule), { status: 422 })
})

t.test('one that is too large says how many days fit', async t => {
  // Three devices have 72 readings a day.
  t.match(await ask('POST', path, { rule, from: text(nowMs - 60 * dayMs) }), {
    status: 413,
    body: { title: 'preview too large', days: 26, detail: 'ask for at most 26 days of these devices' },
  })
})

t.test('when QuestDB does not answer, and when too many are made at once, it says so', async t => {
  reads = async function* () {
    yield* []
    throw new BodyInterrupted('DATABASE_AWAY')
  }
  t.match(await ask('POST', path, { rule }), { status: 503, body: { title: 'database unavailable' } })
  reads = async function* () {
    yield* []
    throw new BodyInterrupted('CLOSING')
  }
  t.match(await ask('POST', path, { rule }), { status: 503, body: { title: 'shutting down' } })
  const held = Promise.withResolvers<void>()
  let begun = 0
  reads = async function* () {
    begun++
    await held.promise
    yield* []
  }
  const running = [ask('POST', path, { rule }), ask('POST', path, { rule })]
  await until('both are under way', () => begun === 2)
  t.match(await ask('POST', path, { rule }), {
    status: 503,
    headers: { 'retry-after': '5' },
    body: { title: 'preview busy' },
  })
  held.resolve()
  for (const { status } of await Promise.all(running)) t.equal(status, 200)
  reads = hot
})

t.test('the body has a bound', async t => {
  const payload = JSON.stringify({ rule: { ...rule, note: 'x'.repeat(70_000) } })
  const headers = { ...ofAda, 'content-type': 'application/json' }
  t.equal((await app.inject({ method: 'POST', url: path, headers, payload })).statusCode, 413)
})
