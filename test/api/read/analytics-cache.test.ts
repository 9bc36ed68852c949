/** How analyses are cached, refused and broken off, over HTTP with a real QuestDB and a clock of the test's own. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { fastify } from 'fastify'
import t from 'tap'
import { registerGroup } from '../../../api/http/register-operations.ts'
import { loggerRules } from '../../../api/http/status-operations.ts'
import { analysesGroup } from '../../../api/read/analyses.ts'
import type { QueryLimits } from '../../../query/limits.ts'
import { makeDevice, queryAt } from '../../query/query-at.ts'
import type { TestHooks } from '../../support/databases.ts'
import { openReadsOf } from '../../support/open-reads.ts'
import { openGate } from '../../support/pg-gate.ts'
import { until } from '../../support/processes.ts'
import { startQuestdb } from '../../support/questdb.ts'
import { type Read, readClient, refusing } from '../../support/reading-client.ts'

const questdb = await startQuestdb(t)

const about = {
  location_desc: '',
  log_switch: true,
  battery: false,
  altitude_m: null,
  latitude: null,
  longitude: null,
  expected_interval_seconds: null as number | null,
  owner: null,
  quality_limits: null,
  profile: 'none' as const,
  battery_type: null,
  battery_cells: null,
  metrics: null,
}
const metrics = { get: () => undefined, series: () => undefined, metricsOf: () => [] }
const minuteMs = 60_000
const paths = ['stats_data', 'detail_data', 'daily_summary', 'past_window_data'].map(name => `/${name}/Porch`)
const allPaths = [...paths, '/compare_data?a=Porch&b=Porch']

/** The routes, with readings that come over the PostgreSQL protocol alone and so through a gate. */
async function serve(t: TestHooks, time: string, limits: Partial<QueryLimits> = {}) {
  const gate = await openGate(t, questdb.address.pg)
  const query = queryAt(t, gate.address, time, { limits })
  const device = { ...makeDevice('Porch', 'outside'), ...about }
  const app = fastify({ routerOptions: { ignoreTrailingSlash: true } })
  app.register(
    async scope => registerGroup(scope, analysesGroup(openReadsOf([device]), { query, metrics }), loggerRules),
    {
      prefix: '/api',
    },
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  const { port } = app.server.address() as AddressInfo
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

t.test('an answer is given while the next one is made, and then the next one is', async t => {
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

t.test('one that is much too old is waited for', async t => {
  const { query, ask, write } = await serve(t, '2025-03-06T12:00:10Z')
  for (const path of paths) await ask(path)
  await write('2025-03-06T12:00:00Z', 1)
  query.clock.advance(5 * minuteMs)
  for (const path of paths) t.match(jsonOf(await ask(path)), { generated_at: '2025-03-06 13:05' }, path)
})

t.test('a device that reports seldom is looked at as seldom, up to five minutes', async t => {
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

t.test(
  'the age of the statistics is of the second of the request, and their tag changes with what they say',
  async t => {
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
    query.clock.advance(57_000)
    t.equal((await ask('/stats_data/Porch', { 'if-none-match': etag })).status, 304)
    query.clock.advance(2000)
    t.equal(gate.statements(), asked)
    await gate.shut()
    const late = await ask('/stats_data/Porch', { 'if-none-match': etag })
    t.strictSame([late.status, jsonOf(late).freshness.state], [200, 'late'])
    t.match(late.headers.etag, /^W\/"[\w-]+-late"$/)
    query.clock.advance(minuteMs)
    const silent = await ask('/stats_data/Porch')
    t.match(silent.headers.etag, /^W\/"[\w-]+-late-silent"$/)
    t.match(jsonOf(silent).reliability.gaps[0], { ongoing: true, end: null })
  },
)

t.test('while QuestDB is away a new query gets 503, a known one its old answer', async t => {
  const { gate, query, ask, refuses, write } = await serve(t, '2025-03-09T12:00:10Z')
  await write('2025-03-09T12:00:00Z', 10)
  for (const path of allPaths) await ask(path)
  await gate.shut()
  await write('2025-03-09T12:00:30Z', 1)
  query.clock.advance(24 * 60 * minuteMs)
  for (const path of allPaths) {
    const answer = await ask(path)
    t.strictSame([answer.status, answer.headers['cache-control']], [200, 'no-cache'], path)
  }
  for (const path of ['/stats_data/Porch?days=7', '/daily_summary/Porch?days=40', '/detail_data/Porch?t=1']) {
    const answer = await refuses(t, path, 503, /^database unavailable$/)
    t.match(answer.headers['retry-after'], /^\d+$/)
  }
  await gate.open()
  t.equal((await ask('/stats_data/Porch?days=7')).status, 200)
})

t.test('when too many queries wait, the next is refused, and only by the pool that is full', async t => {
  const { gate, query, ask, refuses, write } = await serve(t, '2025-03-10T12:00:10Z', {
    analysisThreadsMax: 1,
    queueMax: 2,
  })
  await write('2025-03-10T12:00:00Z', 10)
  await ask('/stats_data/Porch')
  gate.hold()
  const waiting = [7, 8, 9].map(days => ask(`/stats_data/Porch?days=${days}`))
  await until('two wait', () => query.queueLengths().analysis === 2)
  const refused = await refuses(t, '/stats_data/Porch?days=10', 503, /^too many queries at once$/)
  t.match(refused.headers['retry-after'], /^[1-9]\d*$/)
  const light = ask('/past_window_data/Porch')
  await until('a light query is asked', () => gate.connections() > 1)
  gate.release()
  t.equal((await light).status, 200)
  t.strictSame(
    (await Promise.all(waiting)).map(({ status }) => status),
    [200, 200, 200],
  )
})

t.test('when the last client has left, the thread is free for others', async t => {
  const { gate, query, ask, port } = await serve(t, '2025-03-11T12:00:10Z', {
    analysisThreadsMax: 1,
    timeoutMs: 600_000,
  })
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
  t.equal(query.queueLengths().analysis, 1, 'somebody waits still')
  requests[1]?.destroy()
  await until('the other one has the thread', () => query.queueLengths().analysis === 0)
  gate.release()
  t.equal((await others).status, 200)
})

t.test('those who ask for the same at once share one query', async t => {
  const { gate, ask } = await serve(t, '2025-03-12T12:00:10Z')
  await ask('/stats_data/Porch?days=1')
  const alone = gate.statements()
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask('/stats_data/Porch')))
  t.equal(gate.statements(), 2 * alone)
  t.equal(new Set(answers.map(({ headers }) => headers.etag)).size, 1)
})

t.test('an answer that would be made of too many readings is refused, and that is remembered', async t => {
  const { gate, ask, refuses, write } = await serve(t, '2025-03-13T12:00:10Z', {
    analysisRowsMax: 50,
    lightRowsMax: 50,
  })
  await write('2025-03-13T12:00:00Z', 51)
  await refuses(t, '/stats_data/Porch', 413, /^too many readings for one answer: ask for fewer days with \?days=$/)
  for (const path of ['/daily_summary/Porch', '/daily_summary/Porch?days=99']) await refuses(t, path, 413, /\?days=/)
  for (const path of ['/detail_data/Porch', '/past_window_data/Porch'])
    await refuses(t, path, 413, /^too many readings/)
  const asked = gate.statements()
  await refuses(t, '/stats_data/Porch', 413, /\?days=/)
  t.equal(gate.statements(), asked)
  t.equal((await ask('/compare_data?a=Porch&b=Porch')).status, 200)
})

t.test('a few days with too many readings for a light query are summed up by the other pool', async t => {
  const { ask, write } = await serve(t, '2025-03-15T12:00:10Z', { lightRowsMax: 50 })
  await write('2025-03-15T12:00:00Z', 51)
  t.match(jsonOf(await ask('/daily_summary/Porch')).days.at(-1), { temperature: { count: 51 } })
})

t.test('a day has 25 hours when the clocks go back and 23 when they go forward', async t => {
  for (const [time, date, hours, temperatures] of [
    ['2025-10-26T22:59:30Z', '2025-10-26', 25, [22, 23, 0, 1, 2]],
    ['2025-03-30T21:59:30Z', '2025-03-30', 23, [23, 0, 1, 2, 3]],
  ] as const) {
    const { query, ask, write } = await serve(t, time)
    await write(`${time.slice(0, 17)}00Z`, 36 * 60)
    const { today } = jsonOf(await ask('/past_window_data/Porch'))
    t.strictSame([today.date, today.hours.length], [date, hours])
    t.strictSame(
      today.hours.slice(0, 5).map((hour: { temperature: { mean: number } }) => hour.temperature.mean),
      temperatures,
    )
    t.ok(today.hours.every((hour: { humidity: { count: number } }) => hour.humidity.count === 60))
    const labels = today.hours.map((hour: { d: string }) => hour.d.slice(11))
    t.equal(labels.includes('02:00'), hours === 25)
    t.equal(new Set(labels).size, hours === 25 ? 24 : 23, 'a label repeats or is left out')
    const { days } = jsonOf(await ask('/daily_summary/Porch'))
    t.match(days.at(-1), { date, hours, temperature: { count: hours * 60 } })
    const { reliability } = jsonOf(await ask('/stats_data/Porch'))
    t.match(reliability.days.at(-1), { date, state: 'ok', completeness: 1 })
    const { last_30d_hourly } = jsonOf(await ask('/detail_data/Porch?t=1'))
    const ofDay = last_30d_hourly.temperature.filter((point: { d: string }) => point.d.startsWith(date))
    t.strictSame(
      ofDay.map((point: { d: string }) => point.d.slice(11)),
      labels,
    )
    t.equal(new Set(ofDay.map((point: { t: number }) => point.t)).size, hours)
    query.clock.advance(5 * minuteMs)
    const next = jsonOf(await ask('/past_window_data/Porch'))
    t.strictSame([next.today.hours.length, next.yesterday.date, next.yesterday.hours.length], [24, date, hours])
  }
})

t.test('a thread for analyses starts with the first one', async t => {
  let workers = 0
  const count = () => {
    workers++
  }
  subscribe('worker_threads', count)
  t.teardown(() => unsubscribe('worker_threads', count))
  const { ask } = await serve(t, '2025-03-14T12:00:10Z', { threadsMax: 1, analysisThreadsMax: 1 })
  await ask('/detail_data/Porch')
  t.equal(workers, 1)
  await ask('/stats_data/Porch')
  await ask('/stats_data/Porch?days=9')
  t.equal(workers, 2)
})
