/** Windows of the analyses, asked of the whole service: what came after the end of one is not in its answers. */

import fc from 'fast-check'
import t from 'tap'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { ChangesParameters, DailyParameters, StatsParameters } from '../../../api/read/analysis-parameters.ts'
import { until } from '../../support/processes.ts'
import { readClient, refusing } from '../../support/reading-client.ts'
import { startService } from '../../support/service.ts'

const service = await startService(t, { environment: { TIME_ZONE: 'Europe/Berlin' } })
const ask = readClient(Number(new URL(service.url).port))
const refuses = refusing(ask)
const local = createLocalTime('Europe/Berlin')
const text = (timeMs: number) => local.text(timeMs * 1000)

const [quarterMs, hourMs] = [900_000, 3_600_000]
const dayMs = 24 * hourMs
/** A full hour of three days ago; `Whole` goes on after it, `Cut` does not. */
const endMs = Math.floor(Date.now() / hourMs) * hourMs - 3 * dayMs
const days = 40
const readingOf = (timeMs: number, index: number) =>
  `${new Date(timeMs).toISOString()},${20 + 3 * Math.sin((timeMs / dayMs) * 2 * Math.PI) + ((index * 7919) % 13) / 10},${50 + (index % 10)},1000,${index % 5}`
const rows = Array.from({ length: ((days + 2) * dayMs) / quarterMs }, (_, index) => {
  const timeMs = endMs - days * dayMs + index * quarterMs
  const reading = readingOf(timeMs, index)
  return timeMs < endMs ? [`Whole,${reading}`, `Cut,${reading}`] : [`Whole,${reading}`]
}).flat()
for (const name of ['Whole', 'Cut', 'Other']) await service.addDevice(name)
await service.import(`device,timestamp,temperature,humidity,pressure,co2\n${rows.join('\n')}\n`)
const metrics = async () => await (await fetch(`${service.url}/metrics`)).text()
await until('queries show all readings', async () => /^barograph_lag_readings 0$/m.test(await metrics()))

// biome-ignore lint/suspicious/noExplicitAny: the shapes have tests of their own
async function json(path: string): Promise<any> {
  const answer = await ask(path)
  t.equal(answer.status, 200, path)
  return answer.json()
}

const [start, end] = [endMs - 10 * dayMs, endMs]
const analyses = [
  `detail_data/Cut?end=${end}`,
  `detail_data/Cut?start=${start}&end=${end}&t=1&metrics=co2`,
  `stats_data/Cut?end=${end}&metrics=co2`,
  `stats_data/Cut?end=${end}&days=7`,
  `stats_data/Cut?start=${start}&end=${end}`,
  `daily_summary/Cut?end=${end}&days=5&metrics=co2`,
  `daily_summary/Cut?start=${start}&end=${end}`,
  `past_window_data/Cut?end=${end}&metrics=co2`,
  `changes/Cut?end=${end}&days=30`,
  `changes/Cut?start=${end - 30 * dayMs}&end=${end}`,
  `normal/Cut?end=${end}`,
  `forecast/Cut?end=${end}`,
  `compare_data?a=Cut&b=Other&start=${start}&end=${end}`,
  `compare_data?a=Cut&b=Other&preset=3d&end=${end}`,
]

t.test('an answer of an earlier moment is what it was then, whatever has come since', async t => {
  for (const path of analyses) {
    const [cut, whole] = [await json(`/${path}`), await json(`/${path.replace('Cut', 'Whole')}`)]
    t.equal(JSON.stringify(whole).replace('"Whole"', '"Cut"'), JSON.stringify(cut), path)
  }
})

t.test('a window begins with its start, and its end is not in it', async t => {
  const stats = await json(`/stats_data/Whole?start=${start}&end=${end}`)
  t.match(stats.window, { start: text(start), end: text(end - quarterMs), days: 10, truncated: false })
  t.equal(stats.n_samples, (10 * dayMs) / quarterMs)
  t.match(stats, { generated_at: text(end), freshness: { last_seen: text(end - quarterMs) } })
  const half = await json(`/stats_data/Whole?start=${end - 12 * hourMs}&end=${end}`)
  t.match(half, { window: { days: 0.5 }, n_samples: 48 })

  const summary = await json(`/daily_summary/Whole?start=${start}&end=${end}`)
  t.equal(summary.days[0].date, text(start).slice(0, 10))
  t.equal(summary.days.at(-1).date, text(end - 1).slice(0, 10))
  const midnightMs = (local.day(text(end).slice(0, 10))?.startUs ?? 0) / 1000
  const whole = await json(`/daily_summary/Whole?start=${midnightMs - dayMs / 2}&end=${midnightMs}`)
  t.strictSame(
    whole.days.map(({ date }: { date: string }) => date),
    [text(midnightMs - 1).slice(0, 10)],
    'midnight belongs to the day that begins',
  )

  const compared = await json(`/compare_data?a=Whole&b=Cut&start=${start + 5}&end=${end + 5}&t=1`)
  t.match(compared, { preset: null, start: text(start), end: text(end), temperature: { stats: { n: 240, bias: 0 } } })
  const detail = await json(`/detail_data/Whole?start=${start}&end=${end}&t=1`)
  t.equal(detail.last_30d_hourly.temperature[0].t, start)
  t.equal(detail.last_24h.temperature.at(-1).t, end - quarterMs)
  t.match(await json(`/past_window_data/Whole?end=${end}`), { today: { date: text(end - 1).slice(0, 10) } })
})

t.test('a window without readings, or before all of them, is answered in the same shape', async t => {
  for (const path of analyses) {
    const early = path.replaceAll(String(start), '100000000').replaceAll(String(end), '864000000')
    const answer = await json(`/${early.replace(String(end - 30 * dayMs), '0')}`)
    t.strictSame(Object.keys(answer), Object.keys(await json(`/${path}`)), early)
  }
  const later = await json(`/stats_data/Cut?start=${end + hourMs}&end=${end + 2 * hourMs}`)
  t.match(later, { n_samples: 0, window: { start: null, end: null }, freshness: { last_seen: text(end - quarterMs) } })
})

t.test('an end in the future is now, and the days of a silent device end with its last one', async t => {
  const future = Date.now() + 400 * dayMs
  t.match(await json(`/stats_data/Whole?end=${future}`), { n_samples: 30 * 96 })
  const silent = await json('/daily_summary/Cut?days=5')
  t.equal(silent.days.at(-1).date, text(end - quarterMs).slice(0, 10))
  t.equal(silent.days.length, 5)
  const never = await json('/daily_summary/Other?days=5')
  t.equal(never.days.length, 5)
})

t.test('a wrong window is refused with what is allowed', async t => {
  const [year, invalid] = [366 * dayMs, /^end must be ISO 8601 with a zone, or epoch milliseconds$/]
  for (const name of ['stats_data', 'daily_summary', 'changes', 'detail_data']) {
    const path = `/${name}/Whole`
    await refuses(t, `${path}?start=${start}`, 400, /^start and end go together$/)
    await refuses(t, `${path}?start=${end}&end=${end}`, 400, /^end must be after start$/)
    await refuses(t, `${path}?start=${end - year - 1}&end=${end}`, 400, /^a range has at most 366 days$/)
    await refuses(t, `${path}?end=yesterday`, 400, invalid)
    const seconds = `${path}?start=${start / 1000}&end=${end / 1000}`
    await refuses(t, seconds, 400, /^start looks like seconds; send milliseconds$/)
    if (name !== 'detail_data') {
      await refuses(t, `${path}?start=${start}&end=${end}&days=30`, 400, /^start and days do not go together$/)
    }
  }
  for (const name of ['past_window_data', 'normal', 'forecast']) {
    await refuses(t, `/${name}/Whole?end=2026-05-01`, 400, invalid)
    await refuses(t, `/${name}/Whole?end=${end}&end=${end}`, 400, invalid)
  }
  const compare = '/compare_data?a=Whole&b=Cut'
  await refuses(t, `${compare}&start=${start}&end=${end}&preset=7d`, 400, /^start and preset do not go together$/)
})

t.test('whatever a window says is taken as one of at most 366 days, or is refused', async t => {
  const odd = fc.oneof(fc.string(), fc.constantFrom('', '-1', '1e3', '٣'))
  const mostly = (numbers: fc.Arbitrary<number>) =>
    fc.oneof({ weight: 9, arbitrary: numbers.map(String) }, { weight: 1, arbitrary: odd })
  const moment = mostly(fc.integer({ min: end, max: end + 500 * dayMs }))
  const fields = fc.record({ days: mostly(fc.nat({ max: 400 })), start: moment, end: moment }, { requiredKeys: [] })
  let taken = 0
  fc.assert(
    fc.property(fields, given => {
      for (const shape of [StatsParameters, DailyParameters, ChangesParameters]) {
        const { success, data, error } = shape.safeParse(given)
        if (!success && !error?.issues[0]?.message) throw new Error('it does not say why')
        if (!success) continue
        taken++
        const { days = 1, start: from, end: to } = data
        if (days > 366 || (from !== undefined && (to === undefined || to <= from || to - from > 366 * 864e8))) {
          throw new Error(JSON.stringify(data))
        }
      }
    }),
    { numRuns: 2000 },
  )
  t.ok(taken > 100)
})
