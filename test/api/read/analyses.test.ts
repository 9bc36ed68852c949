/** Analyses over HTTP with a real QuestDB and the test's clock: caching, rejections, cancellation, and windows. */

import http from 'node:http'
import t from 'tap'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { analysesGroup } from '../../../api/read/analyses.ts'
import type { QueryLimits } from '../../../query/limits.ts'
import { makeDevice, queryAt } from '../../query/query-at.ts'
import type { TestHooks } from '../../support/databases.ts'
import { openReadsOf } from '../../support/open-reads.ts'
import { openGate } from '../../support/pg-gate.ts'
import { plainDevice } from '../../support/plain-device.ts'
import { until } from '../../support/processes.ts'
import { startQuestdb } from '../../support/questdb.ts'
import { serveGroups } from '../serve-groups.ts'
import { type Read, readClient, refusing } from './reading-client.ts'

const questdb = await startQuestdb(t)

const metrics = { get: () => undefined, series: () => undefined, metricsOf: () => [] }
const minuteMs = 60_000
const paths = ['stats_data', 'detail_data', 'daily_summary', 'past_window_data'].map(name => `/${name}/Porch`)
const allPaths = [...paths, '/compare_data?a=Porch&b=Porch']

/** The routes, with readings that pass a gate on the PostgreSQL protocol. */
async function serve(t: TestHooks, time: string, limits: Partial<QueryLimits> = {}) {
  const gate = await openGate(t, questdb.address.pg)
  const query = queryAt(t, gate.address, time, { limits })
  const device = { ...plainDevice, ...makeDevice('Porch', 'outside') }
  const { port } = await serveGroups(t, analysesGroup(openReadsOf([device]), { query, metrics }))
  const ask = readClient(port)

  /** A reading a minute, the last one at the given moment. */
  async function write(lastTime: string, count: number): Promise<void> {
    const lastMs = Date.parse(lastTime)
    const times = Array.from({ length: count }, (_, i) => new Date(lastMs - (count - 1 - i) * minuteMs).toISOString())
    const value = (time: string) => ({ temperature: new Date(time).getUTCHours(), humidity: 50, pressure: 1000 })
    await questdb.write(times.map(time => ({ symbol: device.symbol, time, ...value(time) })))
    query.revisions.set(device.number, (query.revisions.get(device.number) ?? 0) + 1)
  }

  return { gate, query, device, ask, refuses: refusing(ask), write, port }
}

// biome-ignore lint/suspicious/noExplicitAny: the shapes have tests of their own
const jsonOf = (read: Read): any => read.json()

const [quarterMs, hourMs] = [900_000, 3_600_000]
const dayMs = 24 * hourMs
const local = createLocalTime('Europe/Berlin')
const text = (timeMs: number) => local.text(timeMs * 1000)
const windowsNowMs = Date.parse('2025-05-10T12:20:00Z')
/** A full hour of three days ago. `Whole` continues after it, `Cut` does not. */
const endMs = Math.floor(windowsNowMs / hourMs) * hourMs - 3 * dayMs
const days = 40
const [whole, cut, other] = ['Whole', 'Cut', 'Other'].map(name => ({ ...plainDevice, ...makeDevice(name) }))
const readingOf = (symbol: string, timeMs: number, index: number) => ({
  symbol,
  time: new Date(timeMs).toISOString(),
  temperature: 20 + 3 * Math.sin((timeMs / dayMs) * 2 * Math.PI) + ((index * 7919) % 13) / 10,
  humidity: 50 + (index % 10),
  pressure: 1000,
})

/** The analyses of a day in spring, over HTTP. */
async function serveWindows(t: TestHooks) {
  const devices = [whole, cut, other].flatMap(device => device ?? [])
  const count = ((days + 2) * dayMs) / quarterMs
  const times = Array.from({ length: count }, (_, index) => endMs - days * dayMs + index * quarterMs)
  const readings = times.flatMap((timeMs, index) => [
    readingOf(whole?.symbol ?? '', timeMs, index),
    ...(timeMs < endMs ? [readingOf(cut?.symbol ?? '', timeMs, index)] : []),
  ])
  await questdb.write(readings)
  const query = queryAt(t, questdb.address.pg, new Date(windowsNowMs).toISOString(), { http: questdb.address.http })
  return readClient((await serveGroups(t, analysesGroup(openReadsOf(devices), { query, metrics }))).port)
}

const askWindow = await serveWindows(t)
const refusesWindow = refusing(askWindow)

t.test('a cached response is served while the next one is computed, then the new one', async t => {
  const { gate, query, ask, write } = await serve(t, '2025-03-05T12:00:10Z')
  await write('2025-03-05T11:59:00Z', 100)
  for (const path of allPaths) await ask(path)
  await write('2025-03-05T12:00:00Z', 1)
  const old = new Map<string, string | undefined>()
  for (const path of allPaths) old.set(path, (await ask(path)).headers.etag)
  const asked = gate.statements()
  query.clock.advance(59_000)
  for (const path of paths) await ask(path)
  t.equal(gate.statements(), asked, 'at most once a minute')
  query.clock.advance(1000)
  gate.hold()
  for (const path of allPaths) {
    const answer = await ask(path)
    t.strictSame([answer.status, answer.headers['cache-control']], [200, 'no-cache'], path)
    if (!path.startsWith('/stats')) t.equal(answer.headers.etag, old.get(path))
    t.equal((await ask(path)).headers.etag, answer.headers.etag)
  }
  gate.release()
  for (const path of allPaths) {
    const isNext = (next: Read) =>
      next.headers.etag !== old.get(path) && jsonOf(next).generated_at === '2025-03-05 13:01'
    await until('the next one is there', async () => isNext(await ask(path)))
  }
  t.match(jsonOf(await ask('/stats_data/Porch')), { n_samples: 101 })
})

t.test('a device that reports rarely is refreshed as rarely, up to five minutes', async t => {
  const { gate, query, device, ask, write } = await serve(t, '2025-03-07T12:00:10Z')
  device.expected_interval_seconds = 200
  await ask('/detail_data/Porch')
  const asked = gate.statements()
  await write('2025-03-07T12:00:00Z', 1)
  query.clock.advance(199_000)
  t.equal((await ask('/detail_data/Porch')).headers['cache-control'], 'public, max-age=5')
  t.equal(gate.statements(), asked)
  query.clock.advance(1000)
  t.equal((await ask('/detail_data/Porch')).headers['cache-control'], 'no-cache')
  await until('it is looked at', () => gate.statements() > asked)
})

t.test('statistics have their age at the second of the request, and a new tag with a finding', async t => {
  const { gate, query, ask, write } = await serve(t, '2025-03-08T12:00:00Z')
  await write('2025-03-08T11:59:00Z', 200)
  const first = await ask('/stats_data/Porch', { 'accept-encoding': 'gzip' })
  const { etag = '' } = first.headers
  t.match(etag, /^W\/"[\w-]+-fresh"$/)
  t.equal(first.headers['cache-control'], 'no-cache')
  const asked = gate.statements()
  const ageAfter = async (ms: number) => {
    query.clock.advance(ms)
    return jsonOf(await ask('/stats_data/Porch')).freshness.age_seconds
  }
  t.strictSame([await ageAfter(0), await ageAfter(1000), await ageAfter(999), await ageAfter(1)], [60, 61, 61, 62])
  const again = await ask('/stats_data/Porch', { 'accept-encoding': 'gzip', 'if-none-match': etag })
  t.strictSame([again.status, again.bytes.length, again.headers.etag], [304, 0, etag], 'an age is no change')
  t.equal((await ask('/stats_data/Porch', { 'if-none-match': etag.slice(2) })).status, 304, 'compared weakly')
  query.clock.advance(59_000)
  t.equal(gate.statements(), asked)
  await gate.shut()
  const late = await ask('/stats_data/Porch', { 'if-none-match': etag })
  t.strictSame([late.status, jsonOf(late).freshness.state], [200, 'late'])
  t.match(late.headers.etag, /^W\/"[\w-]+-late"$/)
  query.clock.advance(minuteMs)
  const silent = await ask('/stats_data/Porch')
  t.match(silent.headers.etag, /^W\/"[\w-]+-late-silent"$/)
  t.match(jsonOf(silent).reliability.gaps[0], { ongoing: true, end: null })
})

t.test('the thread is free for others when the last client has left', async t => {
  const { gate, query, ask, port } = await serve(t, '2025-03-11T12:00:10Z', { analysisThreadsMax: 1 })
  await ask('/stats_data/Porch')
  gate.hold()
  const asked = gate.statements()
  const requests = [1, 2].map(() => http.get({ port, host: '127.0.0.1', path: '/api/stats_data/Porch?days=9' }))
  for (const request of requests) request.on('error', () => undefined)
  await until('it was asked', () => gate.statements() > asked)
  const others = ask('/daily_summary/Porch?days=99')
  await until('another waits', () => query.queueLengths().analysis === 1)
  requests[0]?.destroy()
  await new Promise(done => setTimeout(done, 100))
  t.equal(query.queueLengths().analysis, 1, 'the second client waits still')
  requests[1]?.destroy()
  await until('the other one has the thread', () => query.queueLengths().analysis === 0)
  gate.release()
  t.equal((await others).status, 200)
})

t.test('the rejection of a response from too many readings is cached', async t => {
  const limits = { analysisRowsMax: 50, lightRowsMax: 50 }
  const { gate, ask, refuses, write } = await serve(t, '2025-03-13T12:00:10Z', limits)
  await write('2025-03-13T12:00:00Z', 51)
  const fewer = /^too many readings for one answer: ask for fewer days with \?days=$/
  for (const path of ['/stats_data/Porch', '/daily_summary/Porch', '/daily_summary/Porch?days=99']) {
    await refuses(t, path, 413, fewer)
  }
  for (const path of ['/detail_data/Porch', '/past_window_data/Porch'])
    await refuses(t, path, 413, /^too many readings/)
  const asked = gate.statements()
  await refuses(t, '/stats_data/Porch', 413, fewer)
  t.equal(gate.statements(), asked)
  t.equal((await ask('/compare_data?a=Porch&b=Porch')).status, 200)
})

t.test('a few days with too many readings for a light query are aggregated by the other pool', async t => {
  const { ask, write } = await serve(t, '2025-03-15T12:00:10Z', { lightRowsMax: 50 })
  await write('2025-03-15T12:00:00Z', 51)
  t.match(jsonOf(await ask('/daily_summary/Porch')).days.at(-1), { temperature: { count: 51 } })
})

// biome-ignore lint/suspicious/noExplicitAny: the shapes have tests of their own
async function jsonAt(path: string): Promise<any> {
  const answer = await askWindow(path)
  t.equal(answer.status, 200, path)
  return answer.json()
}

const [start, end] = [endMs - 10 * dayMs, endMs]
const analyses = [
  `detail_data/Cut?end=${end}`,
  `detail_data/Cut?start=${start}&end=${end}&t=1`,
  `stats_data/Cut?end=${end}`,
  `stats_data/Cut?end=${end}&days=7`,
  `stats_data/Cut?start=${start}&end=${end}`,
  `daily_summary/Cut?end=${end}&days=5`,
  `daily_summary/Cut?start=${start}&end=${end}`,
  `past_window_data/Cut?end=${end}`,
  `changes/Cut?end=${end}&days=30`,
  `changes/Cut?start=${end - 30 * dayMs}&end=${end}`,
  `normal/Cut?end=${end}`,
  `forecast/Cut?end=${end}`,
  `compare_data?a=Cut&b=Other&start=${start}&end=${end}`,
  `compare_data?a=Cut&b=Other&preset=3d&end=${end}`,
]

t.test('a response for an earlier moment does not change with later readings', async t => {
  for (const path of analyses) {
    const [cut, whole] = [await jsonAt(`/${path}`), await jsonAt(`/${path.replace('Cut', 'Whole')}`)]
    t.equal(JSON.stringify(whole).replace('"Whole"', '"Cut"'), JSON.stringify(cut), path)
  }
})

t.test('a window includes its start, and excludes its end', async t => {
  const stats = await jsonAt(`/stats_data/Whole?start=${start}&end=${end}`)
  t.match(stats.window, { start: text(start), end: text(end - quarterMs), days: 10, truncated: false })
  t.equal(stats.n_samples, (10 * dayMs) / quarterMs)
  t.match(stats, { generated_at: text(end), freshness: { last_seen: text(end - quarterMs) } })
  const half = await jsonAt(`/stats_data/Whole?start=${end - 12 * hourMs}&end=${end}`)
  t.match(half, { window: { days: 0.5 }, n_samples: 48 })

  const summary = await jsonAt(`/daily_summary/Whole?start=${start}&end=${end}`)
  t.equal(summary.days[0].date, text(start).slice(0, 10))
  t.equal(summary.days.at(-1).date, text(end - 1).slice(0, 10))
  const midnightMs = (local.day(text(end).slice(0, 10))?.startUs ?? 0) / 1000
  const whole = await jsonAt(`/daily_summary/Whole?start=${midnightMs - dayMs / 2}&end=${midnightMs}`)
  t.equal(whole.days.length, 1, 'midnight belongs to the day that begins')
  t.equal(whole.days[0].date, text(midnightMs - 1).slice(0, 10))

  const compared = await jsonAt(`/compare_data?a=Whole&b=Cut&start=${start + 5}&end=${end + 5}&t=1`)
  t.match(compared, { preset: null, start: text(start), end: text(end), temperature: { stats: { n: 240, bias: 0 } } })
  const detail = await jsonAt(`/detail_data/Whole?start=${start}&end=${end}&t=1`)
  t.equal(detail.last_30d_hourly.temperature[0].t, start)
  t.equal(detail.last_24h.temperature.at(-1).t, end - quarterMs)
  t.match(await jsonAt(`/past_window_data/Whole?end=${end}`), { today: { date: text(end - 1).slice(0, 10) } })
})

t.test('a window without readings, or before all of them, has the same shape', async t => {
  for (const path of analyses) {
    const early = path.replaceAll(String(start), '100000000').replaceAll(String(end), '864000000')
    const answer = await jsonAt(`/${early.replace(String(end - 30 * dayMs), '0')}`)
    t.strictSame(Object.keys(answer), Object.keys(await jsonAt(`/${path}`)), early)
  }
  const later = await jsonAt(`/stats_data/Cut?start=${end + hourMs}&end=${end + 2 * hourMs}`)
  t.match(later, { n_samples: 0, window: { start: null, end: null }, freshness: { last_seen: text(end - quarterMs) } })
})

t.test("a window in the future ends now, or for days with a silent device's last reading", async t => {
  const future = windowsNowMs + 400 * dayMs
  t.match(await jsonAt(`/stats_data/Whole?end=${future}`), { n_samples: 30 * 96 })
  const silent = await jsonAt('/daily_summary/Cut?days=5')
  t.equal(silent.days.at(-1).date, text(end - quarterMs).slice(0, 10))
  t.equal(silent.days.length, 5)
  t.equal((await jsonAt('/daily_summary/Other?days=5')).days.length, 5, 'a device without a reading')
})

t.test('a wrong window is rejected with the allowed values', async t => {
  const [year, invalid] = [366 * dayMs, /^end must be ISO 8601 with a zone, or epoch milliseconds$/]
  for (const name of ['stats_data', 'daily_summary', 'changes', 'detail_data']) {
    const path = `/${name}/Whole`
    await refusesWindow(t, `${path}?start=${start}`, 400, /^start and end go together$/)
    await refusesWindow(t, `${path}?start=${end}&end=${end}`, 400, /^end must be after start$/)
    await refusesWindow(t, `${path}?start=${end - year - 1}&end=${end}`, 400, /^a range has at most 366 days$/)
    await refusesWindow(t, `${path}?end=yesterday`, 400, invalid)
    const seconds = `${path}?start=${start / 1000}&end=${end / 1000}`
    await refusesWindow(t, seconds, 400, /^start looks like seconds; send milliseconds$/)
    if (name !== 'detail_data') {
      await refusesWindow(t, `${path}?start=${start}&end=${end}&days=30`, 400, /^start and days do not go together$/)
    }
  }
  for (const name of ['past_window_data', 'normal', 'forecast']) {
    await refusesWindow(t, `/${name}/Whole?end=2026-05-01`, 400, invalid)
    await refusesWindow(t, `/${name}/Whole?end=${end}&end=${end}`, 400, invalid)
  }
  const compare = '/compare_data?a=Whole&b=Cut'
  await refusesWindow(t, `${compare}&start=${start}&end=${end}&preset=7d`, 400, /^start and preset do not go together$/)
})

t.test('a wrong parameter is rejected with the allowed values', async t => {
  const wholeDays = /^days must be a whole number from 1 to 366$/
  for (const text of ['0', '367', '1e1', '', '1&days=2']) {
    await refusesWindow(t, `/stats_data/Whole?days=${text}`, 400, wholeDays)
    await refusesWindow(t, `/daily_summary/Whole?days=${text}`, 400, wholeDays)
  }
  const refused: [string, RegExp][] = [
    ['/stats_data/Whole?step=61', /^step must be one of 60, 120, .*, 43200 seconds$/],
    ['/detail_data/Whole?points=3', /^points must be a whole number from 4 to 20000$/],
    ['/detail_data/Whole?t=2', /^t must be 1/],
    ['/detail_data/Whole?flags=yes', /^flags must be 1 for the flags of suspect readings, or 0$/],
    ['/compare_data?a=Whole', /^a and b must each name a device$/],
    ['/compare_data?a=Whole&b=Cut&b=Cut', /^a and b must each name a device$/],
    ['/compare_data?a=Whole&b=Cut&preset=1h', /^preset must be one of 24h, 3d, 7d, 30d, 90d, 365d, 1d, 1w, 1m, 1y$/],
  ]
  for (const [path, status] of refused) await refusesWindow(t, path, 400, status)
  t.equal((await askWindow('/past_window_data/Whole?days=0')).status, 200, 'an unknown parameter is ignored')
  const unknown = ['/stats_data/Nobody?days=x', '/compare_data?a=Nobody&b=Cut', '/compare_data?a=Cut&b=__proto__']
  for (const path of unknown) await refusesWindow(t, path, 404, /^device unknown$/)
})

t.test('a comparison with a device without readings has one side', async t => {
  const one = await jsonAt(`/compare_data?a=Whole&b=Other&preset=1d&end=${end}`)
  t.match(one, { preset: '24h', temperature: { b: [], diff: [], stats: { n: 0 } } })
  t.equal(one.temperature.a.length, 24)
})
