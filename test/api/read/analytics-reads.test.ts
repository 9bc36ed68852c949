/** The analyses over HTTP, asked of the whole service with both its databases. */

import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import t from 'tap'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { until } from '../../support/processes.ts'
import { readClient, refusing } from '../../support/reading-client.ts'
import { startService } from '../../support/service.ts'

const service = await startService(t, { environment: { TIME_ZONE: 'Europe/Berlin' } })
const ask = readClient(Number(new URL(service.url).port))
const refuses = refusing(ask)
const local = createLocalTime('Europe/Berlin')

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const oddName = 'Küche, Nord & "Süd" 100%'
await service.addDevice('Kitchen', { location_short: 'downstairs', expected_interval_seconds: 60 })
await service.addDevice('Attic', { location_short: 'upstairs' })
await service.addDevice('Empty')
await service.addDevice(oddName)

/** A reading a minute for 40 hours, up to the last full minute but one; the attic is two degrees warmer. */
const lastMs = Math.floor(Date.now() / minuteMs - 1) * minuteMs
const minutes = 40 * 60
const rows = Array.from({ length: minutes }, (_, i) => {
  const time = new Date(lastMs - (minutes - 1 - i) * minuteMs).toISOString()
  const temperature = 20 + Math.sin((i / 1440) * 2 * Math.PI)
  return [`Kitchen,${time},${temperature},${50 + (i % 10)},1000`, `Attic,${time},${temperature + 2},${i % 7},1001`]
})
await service.import(`device,timestamp,temperature,humidity,pressure\n${rows.flat().join('\n')}\n`)
const metrics = async () => await (await fetch(`${service.url}/metrics`)).text()
await until('queries show all readings', async () => /^barograph_lag_readings 0$/m.test(await metrics()))

const paths = ['/detail_data/Kitchen', '/stats_data/Kitchen', '/daily_summary/Kitchen', '/past_window_data/Kitchen']
const allPaths = ['/compare_data?a=Kitchen&b=Attic', ...paths]

// biome-ignore lint/suspicious/noExplicitAny: the shapes have tests of their own
const json = async (path: string): Promise<any> => {
  const answer = await ask(path)
  t.equal(answer.status, 200, path)
  t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  return answer.json()
}

t.test('the last day in full and the last month by the hour', async t => {
  const detail = await json('/detail_data/Kitchen')
  t.strictSame(Object.keys(detail), ['device', 'time_zone', 'generated_at', 'last_24h', 'last_30d_hourly'])
  t.match(detail, { device: 'Kitchen', time_zone: 'Europe/Berlin', last_24h: { downsampled: false, gap_seconds: 150 } })
  const { temperature, battery_voltage } = detail.last_24h
  t.strictSame(temperature.at(-1), { d: local.text(lastMs * 1000), v: temperature.at(-1).v })
  const minutesSince = Array.from({ length: 60 }, (_, i) => local.text((lastMs + i * minuteMs) * 1000))
  t.equal(temperature.length, 1440 - minutesSince.indexOf(detail.generated_at))
  t.strictSame(battery_voltage, [])
  const hours = detail.last_30d_hourly.temperature
  t.equal(
    hours.reduce((count: number, hour: { count: number }) => count + hour.count, 0),
    minutes,
  )
  const [{ t: time }] = (await json('/detail_data/Kitchen?t=1')).last_24h.temperature.slice(-1)
  t.equal(time, lastMs)
  await refuses(t, '/detail_data/Kitchen?flags=yes', 400, /^flags must be 1 for the flags of suspect readings, or 0$/)
  const picture = await json('/detail_data/Kitchen?points=100&t=0')
  t.ok(picture.last_24h.temperature.length <= 100 && picture.last_24h.downsampled)
})

t.test('two devices side by side', async t => {
  const compared = await json('/compare_data?a=Kitchen&b=Attic&preset=1d&t=1')
  t.match(compared, { a: { device: 'Kitchen', location_short: 'downstairs' }, b: { device: 'Attic' }, preset: '24h' })
  const endMs = Math.floor(lastMs / hourMs) * hourMs
  t.strictSame(
    [compared.start, compared.end],
    [endMs - 24 * hourMs, endMs].map(ms => local.text(ms * 1000)),
  )
  const { diff, stats } = compared.temperature
  t.equal(diff.length, 24)
  t.ok(diff.every(({ v }: { v: number }) => Math.abs(v + 2) < 1e-9))
  t.ok(Math.abs(stats.bias + 2) < 1e-9 && stats.pearson > 0.999999)
  t.equal(diff.at(-1).t, endMs - hourMs)
  t.equal((await json('/compare_data?a=Kitchen&b=Attic')).preset, '7d')
  const itself = await json('/compare_data?a=Attic&b=Attic')
  t.match(itself.pressure.stats, { bias: 0, n: itself.pressure.diff.length })
})

t.test('the statistics of a device', async t => {
  const stats = await json('/stats_data/Kitchen')
  const parts = ['freshness', 'reliability', 'correlations', 'autocorrelation', 'seasonality']
  t.ok(parts.every(part => Object.hasOwn(stats, part)))
  t.match(stats.window, { days: 30, truncated: true, end: local.text(lastMs * 1000) })
  t.match(stats.freshness, { last_seen: local.text(lastMs * 1000), interval_source: 'configured' })
  t.equal(stats.n_samples, minutes)
  // Some minutes may have passed since.
  t.ok(stats.reliability.windows['24h'].uptime > 0.95)
  t.match(await json('/stats_data/Kitchen?days=1&step=300'), {
    window: { days: 1 },
    grid_seconds: 300,
    n_samples: 1440,
  })
  t.match(await json('/stats_data/Attic?days=366'), { window: { days: 366 }, n_samples: minutes })
})

t.test('the days of a device, by either pool', async t => {
  for (const [search, count] of [
    ['', 30],
    ['?days=1', 1],
    ['?days=31', 31],
    ['?days=32', 32],
    ['?days=366', 366],
  ] as const) {
    const { days } = await json(`/daily_summary/Kitchen${search}`)
    t.equal(days.length, count, search)
    t.match(days.at(-1).date, local.text(Date.now() * 1000).slice(0, 10))
    t.strictSame(Object.keys(days[0]), ['date', 'hours', 'temperature', 'humidity', 'pressure'])
  }
})

t.test('today beside days like it', async t => {
  const past = await json('/past_window_data/Kitchen')
  const days = ['today', 'yesterday', '7d', '30d', '365d']
  t.strictSame(Object.keys(past), ['device', 'time_zone', 'generated_at', ...days])
  const count = days.flatMap(day => past[day].hours).reduce((sum, { pressure }) => sum + pressure.count, 0)
  t.ok(count >= 1439 && count <= minutes)
})

t.test('a device without a reading is answered in the same shape', async t => {
  for (const path of paths) {
    const [full, empty] = [await json(path), await json(path.replace('Kitchen', 'Empty'))]
    t.strictSame(Object.keys(empty), Object.keys(full), path)
  }
  t.match(await json('/stats_data/Empty'), { freshness: { state: 'never' }, n_samples: 0 })
  const one = await json('/compare_data?a=Kitchen&b=Empty&preset=24h')
  t.match(one.temperature, { b: [], diff: [], stats: { n: 0 } })
  t.equal(one.temperature.a.length, 24)
  t.match(await json('/compare_data?a=Empty&b=Empty'), { humidity: { a: [], b: [], diff: [] } })
})

t.test('a wrong parameter is refused with what is allowed', async t => {
  const days = /^days must be a whole number from 1 to 366$/
  for (const text of ['0', '367', '-1', '1.5', '1e1', '', '%2030', 'x', '٣', '99999999999']) {
    await refuses(t, `/stats_data/Kitchen?days=${encodeURI(text)}`, 400, days)
    await refuses(t, `/daily_summary/Kitchen?days=${encodeURI(text)}`, 400, days)
  }
  await refuses(t, '/daily_summary/Kitchen?days=1&days=2', 400, days)
  for (const step of ['61', '0', '', '060', '86400', '60&step=60']) {
    await refuses(t, `/stats_data/Kitchen?step=${step}`, 400, /^step must be one of 60, 120, .*, 3600 seconds$/)
  }
  for (const points of ['3', '20001', '', 'all']) {
    await refuses(t, `/detail_data/Kitchen?points=${points}`, 400, /^points must be a whole number from 4 to 20000$/)
  }
  for (const path of ['/detail_data/Kitchen?', '/compare_data?a=Kitchen&b=Attic&']) {
    for (const text of ['2', '', 'true', '1&t=1']) await refuses(t, `${path}t=${text}`, 400, /^t must be 1/)
  }
  for (const search of ['', '?a=Kitchen', '?b=Kitchen', '?a=&b=Kitchen', '?a=Kitchen&b=Attic&b=Attic']) {
    await refuses(t, `/compare_data${search}`, 400, /^a and b must each name a device$/)
  }
  for (const preset of ['1h', '', '7D', 'constructor', '7d&preset=7d']) {
    const path = `/compare_data?a=Kitchen&b=Attic&preset=${preset}`
    await refuses(t, path, 400, /^preset must be one of 24h, 3d, 7d, 30d, 90d, 365d, 1d, 1w, 1m, 1y$/)
  }
  t.equal((await ask('/past_window_data/Kitchen?days=0')).status, 200, 'what nobody knows is not looked at')
})

t.test('a device that is not known is told so', async t => {
  for (const path of paths) await refuses(t, path.replace('Kitchen', 'Nobody'), 404, /^device unknown$/)
  for (const search of ['a=Nobody&b=Kitchen', 'a=Kitchen&b=Nobody', 'a=__proto__&b=Kitchen']) {
    await refuses(t, `/compare_data?${search}`, 404, /^device unknown$/)
  }
  await refuses(t, '/stats_data/Nobody?days=x', 404, /^device unknown$/)
})

t.test('a name is found however it has to be written', async t => {
  const name = encodeURIComponent(oddName)
  for (const path of paths) t.equal((await json(path.replace('Kitchen', name))).device, oddName)
  t.equal((await json(`/compare_data?a=${name}&b=Kitchen`)).a.device, oddName)
})

t.test('a slash at the end changes nothing', async t => {
  for (const path of allPaths) {
    const [name, search] = path.split('?')
    const slashed = search === undefined ? `${name}/` : `${name}/?${search}`
    t.equal((await ask(slashed)).status, 200, slashed)
    t.strictSame(Object.keys(await json(slashed)), Object.keys(await json(path)))
  }
})

t.test('HEAD gives the headers of GET, other methods 405 and Allow', async t => {
  for (const path of allPaths) {
    const get = await ask(path, { 'accept-encoding': 'br' })
    const head = await ask(path, { 'accept-encoding': 'br' }, 'HEAD')
    t.strictSame([head.status, head.bytes.length], [200, 0], path)
    t.strictSame(Object.keys(head.headers), Object.keys(get.headers))
    t.equal(head.headers['content-type'], get.headers['content-type'])
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await ask(path, {}, method)
      t.strictSame([answer.status, answer.headers.allow], [405, 'GET, HEAD, OPTIONS'], `${method} ${path}`)
      t.strictSame(answer.json(), { status: 'method not allowed' })
    }
  }
})

t.test('pages of any origin may read', async t => {
  for (const path of allPaths) {
    t.equal((await ask(path)).headers['access-control-allow-origin'], '*', path)
    const headers = { origin: 'https://example.org', 'access-control-request-method': 'GET' }
    const preflight = await ask(path, headers, 'OPTIONS')
    t.strictSame([preflight.status, preflight.headers['access-control-allow-headers']], [204, '*'], path)
  }
})

t.test('an answer goes out in the form that the client likes best', async t => {
  const decoders = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync }
  for (const path of allPaths) {
    const plain = (await json(path)) as { device: string }
    for (const [form, decode] of Object.entries(decoders)) {
      const answer = await ask(path, { 'accept-encoding': form })
      t.equal(answer.headers['content-encoding'], form, path)
      t.equal(answer.headers['content-length'], String(answer.bytes.length))
      t.strictSame(Object.keys(JSON.parse(decode(answer.bytes).toString())), Object.keys(plain))
    }
  }
})

t.test('a client that has the answer already is told so', async t => {
  for (const path of allPaths) {
    // A new minute may begin, or the device turn from fresh to late, between two queries.
    await until(`${path} is known`, async () => {
      const { etag = '' } = (await ask(path, { 'accept-encoding': 'gzip' })).headers
      const answer = await ask(path, { 'accept-encoding': 'gzip', 'if-none-match': etag })
      return answer.status === 304 && answer.bytes.length === 0 && answer.headers.etag === etag
    })
    t.equal((await ask(path, { 'if-none-match': '"other"' })).status, 200)
    const isStats = path.startsWith('/stats')
    t.match((await ask(path)).headers.etag, isStats ? /^W\/"[\w-]+"$/ : /^"[\w-]+"$/, path)
  }
})

t.test('what is changed in the registry shows in the next answer', async t => {
  const pressure = async () => (await json('/stats_data/Attic')).derived.sea_level_pressure
  t.equal(await pressure(), null)
  await service.admin('PATCH', '/devices/Attic', { altitude_m: 500, expected_interval_seconds: 120 })
  t.ok((await pressure()) > 1050)
  t.match(await json('/stats_data/Attic'), { freshness: { expected_interval_seconds: 120 } })
  await service.admin('PATCH', '/devices/Attic', { log_switch: false, location_short: 'roof' })
  t.match(await json('/stats_data/Attic'), { freshness: { state: 'paused' } })
  t.match(await json('/compare_data?a=Kitchen&b=Attic'), { b: { location_short: 'roof' } })
  await service.admin('PATCH', '/devices/Attic', { name: 'Loft' })
  t.match(await json('/detail_data/Loft'), { device: 'Loft' })
  await refuses(t, '/detail_data/Attic', 404, /^device unknown$/)
})

t.test('a scrape says how many queries wait, by pool', async t => {
  const text = await metrics()
  for (const pool of ['light', 'analysis']) t.match(text, `barograph_queries_queued{pool="${pool}"} 0`)
})
