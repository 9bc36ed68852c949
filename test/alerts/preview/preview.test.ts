/** A preview requested by the API: the devices read, the response, and rejections. */

import t from 'tap'
import type { AlertDevice, ReadAlertReadings } from '../../../alerts/core/devices.ts'
import { NewRule } from '../../../alerts/core/rule.ts'
import { createPreview, type PreviewLimits } from '../../../alerts/preview/preview.ts'
import { qualityLimits } from '../../../analytics/quality/quality-limits.ts'
import type { AlertReadings, AskedReadings } from '../../../query/alerts/alert-queries.ts'
import type { TestHooks } from '../../support/databases.ts'

const [fromMs, nowMs] = [Date.UTC(2026, 10, 1), Date.UTC(2026, 10, 26)]
const hourMs = 3_600_000
const stays = new AbortController().signal
const ofAll = { all: true as const, account: null }

const device = (number: number, given: Partial<AlertDevice> = {}): AlertDevice => {
  const names = { number, symbol: `d-${number}`, name: `d${number}`, location_short: '' }
  return { ...names, tags: [], owner: null, log_switch: true, ...given }
}

interface Given {
  devices?: AlertDevice[]
  /** Readings of a device by the hour of the range. */
  values?: Record<number, readonly number[]>
  limits?: Partial<PreviewLimits>
  read?: ReadAlertReadings
}

function openPreview(t: TestHooks, { devices = [device(1), device(2)], values = {}, limits = {}, read }: Given = {}) {
  const asked: AskedReadings[] = []
  async function* hourly(what: AskedReadings): AsyncGenerator<AlertReadings> {
    asked.push(what)
    const hours = Math.max(0, ...Object.values(values).map(({ length }) => length))
    for (let hour = 0; hour < hours; hour++) {
      const of = what.devices.filter(({ number }) => (values[number]?.length ?? 0) > hour)
      yield {
        device: Int32Array.from(of, ({ number }) => number),
        timesUs: Float64Array.from(of, () => (fromMs + hour * hourMs) * 1000),
        values: what.columns.map(() => Float64Array.from(of, ({ number }) => values[number]?.[hour] ?? Number.NaN)),
        length: of.length,
      }
    }
  }
  const preview = createPreview({
    devices: {
      all: () => devices,
      mayRead: (owner, { owner: of }) => owner === null || owner === of,
      seriesOf: (number, metric) => (metric === 'co2' && number === 1 ? { series: 77 } : undefined),
      qualityOf: (_, metrics) => ({ expectedMs: null, limits: metrics.map(metric => qualityLimits(metric, null)) }),
    },
    readings: read ?? hourly,
    silenceOf: () => ({ lastMs: Number.NaN, lateSeconds: 7200, expectedMs: hourMs }),
    timeZone: 'UTC',
    nowMs: () => nowMs,
    limits,
  })
  t.teardown(() => preview.close())
  const run = async (rule: object, owner: Parameters<typeof preview.run>[0]['owner'] = ofAll, signal = stays) => {
    const parsed = NewRule.parse({ name: 'a rule', selector: { all: true }, ...rule })
    return await preview.run({ rule: parsed, fromMs, toMs: fromMs + 24 * hourMs, owner }, signal)
  }
  return { preview, run, asked }
}

const warm = { condition: { kind: 'above', metric: 'temperature', value: 30 } }

t.test('the response has names, those that fire most often first', async t => {
  const { run } = openPreview(t, { values: { 1: [20, 31, 32, 20], 2: [31, 20, 31, 20, 31] } })
  const hour = (count: number) => new Date(fromMs + count * hourMs).toISOString()
  const between = (from: number, to: number) => ({ from: hour(from), to: hour(to) })
  const ofSecond = [between(0, 1), between(2, 3), { from: hour(4), to: null }]
  const value = {
    ...{ supported: true, from: hour(0), to: hour(24), devices_left_out: 0, total: 4, longest_seconds: 20 * 3600 },
    devices: [
      { device: 'd2', intervals: ofSecond, count: 3, longest_seconds: 20 * 3600 },
      { device: 'd1', intervals: [between(1, 3)], count: 1, longest_seconds: 7200 },
    ],
    weeks: [
      { week: '2026-W44', count: 4, half: 4, twice: 4 },
      { week: '2026-W45', count: 0, half: 0, twice: 0 },
    ],
  }
  t.strictSame(await run(warm), { ok: true, value })
})

t.test('only selected devices that log and belong to the owner are read', async t => {
  const devices = [
    device(1, { owner: 5 }),
    device(2, { owner: 6 }),
    device(3, { owner: 5, log_switch: false }),
    device(4, { owner: 5, tags: ['site:berlin'] }),
  ]
  const { run, asked } = openPreview(t, { devices })
  const numbers = () => asked.splice(0).flatMap(({ devices }) => devices.map(({ number }) => number))
  await run(warm, { all: false, account: 5 })
  t.strictSame(numbers(), [1, 4])
  await run({ ...warm, selector: { tags: ['site:*'] } }, { all: false, account: 5 })
  t.strictSame(numbers(), [4])
  await run({ ...warm, selector: { devices: ['d2', 'd1'] } }, { all: false, account: 5 })
  t.strictSame(numbers(), [1])
  await run(warm)
  t.strictSame(numbers(), [1, 2, 4])
})

t.test('the column or the series of the metric is read, from before the range on', async t => {
  const { run, asked } = openPreview(t)
  await run(warm)
  await run({ condition: { kind: 'above', metric: 'co2', value: 1000 }, for_seconds: 3600 })
  await run({ condition: { kind: 'silent' } })
  t.match(asked, [
    { columns: ['temperature'], devices: [{ series: [undefined] }, { series: [undefined] }] },
    { columns: [undefined], devices: [{ series: [77] }, { series: [undefined] }] },
    { columns: [], toUs: (fromMs + 24 * hourMs) * 1000 },
  ])
  t.ok(asked.every(({ fromUs }) => fromUs / 1000 <= fromMs - 24 * hourMs && fromUs % (hourMs * 1000) === 0))
})

t.test('only the first 200 devices are evaluated', async t => {
  const { run, asked } = openPreview(t, { devices: Array.from({ length: 203 }, (_, at) => device(at + 1)) })
  t.match(await run(warm), { value: { devices_left_out: 3, devices: { length: 200 } } })
  await run({ condition: { kind: 'site_silent', share: 0.5 } })
  t.equal(asked[1]?.devices.length, 203, 'a site is looked at as a whole')
})

t.test('conditions without a basis in readings are reported as such', async t => {
  const { run, asked } = openPreview(t)
  for (const rule of [
    { condition: { kind: 'battery', days: 14 } },
    { selector: null, condition: { kind: 'service', fact: 'dead_letters' } },
  ]) {
    t.match(await run(rule), { ok: true, value: { supported: false, devices: [], weeks: [{}, {}] } })
  }
  t.strictSame(asked, [])
})

t.test('too many readings or too long a time are rejected with the possible number of days', async t => {
  const values = { 1: Array.from({ length: 24 * 6 }, () => 20) }
  const many = openPreview(t, { values, limits: { readingsMax: 24 * 4 } })
  t.strictSame(await many.run(warm), { ok: false, code: 'PREVIEW_TOO_LARGE', days: 4 })
  const long = openPreview(t, { values, limits: { timeMsMax: -1 } })
  t.strictSame(await long.run(warm), { ok: false, code: 'PREVIEW_TOO_LARGE', days: 0 })
  t.match(await long.run({ condition: { kind: 'battery', days: 14 } }), { ok: true })
})

t.test('a person has at most two previews at once and all people six, without abandoned ones', async t => {
  const leaving = new AbortController()
  const held = Promise.withResolvers<void>()
  async function* read(_: AskedReadings, signal: AbortSignal): AsyncGenerator<AlertReadings> {
    await Promise.race([held.promise, new Promise(resolve => signal.addEventListener('abort', resolve))])
    const timesUs = Float64Array.of(fromMs * 1000)
    yield { device: Int32Array.of(1), timesUs, values: [Float64Array.of(31)], length: 1 }
  }
  const { run } = openPreview(t, { read })
  const of = (account: number) => ({ all: true as const, account })
  const busy = { ok: false, code: 'PREVIEW_BUSY' } as const
  const [left, stayed] = [run(warm, ofAll, leaving.signal), run(warm)]
  t.strictSame(await run(warm), busy)
  const others = [run(warm, of(7)), run(warm, of(7)), run(warm, of(8))]
  t.strictSame(await run(warm, of(7)), busy)
  others.push(run(warm, of(9)))
  t.strictSame(await run(warm, of(10)), busy, 'of all')
  leaving.abort()
  await t.rejects(left)
  const next = run(warm, of(10))
  held.resolve()
  for (const each of [stayed, next, ...others]) t.match(await each, { ok: true })
})

t.test('an error of a read fails only its preview', async t => {
  let isAway = true
  async function* read(): AsyncGenerator<AlertReadings> {
    if (isAway) throw new Error('away')
    yield* []
  }
  const { run } = openPreview(t, { read })
  await t.rejects(run(warm), { message: 'away' })
  isAway = false
  t.match(await run(warm), { ok: true, value: { total: 0 } })
})

t.test('a preview fails when it is closed meanwhile', async t => {
  const held = Promise.withResolvers<void>()
  async function* read(): AsyncGenerator<AlertReadings> {
    await held.promise
    yield* []
  }
  const { run, preview } = openPreview(t, { read })
  const running = run(warm)
  await preview.close()
  held.resolve()
  await t.rejects(running, /thread/)
})
