/** Pages of anomalies: in order, complete and without duplicates. */

import t from 'tap'
import type { Anomaly } from '../../../analytics/findings/finding.ts'
import { cadenceOf } from '../../../analytics/reliability/cadence.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { type AnalysedDevice, analysedStation } from '../../../query/analysed-device.ts'
import { buildAnomalies } from '../../../query/analyses/anomalies.ts'
import { anomaliesOf } from '../../../query/analyses/anomalies-found.ts'
import { Anomalies } from '../../../query/shapes/anomalies.ts'
import { metrics } from '../../../store/tables.ts'
import { dayMs, hourMs } from '../../analytics/series.ts'

const startMs = Date.UTC(2026, 0, 1)
const endMs = startMs + 30 * dayMs
const local = createLocalTime('Europe/Berlin')
const none = { value: null, expected: null, count: null }

const outage = (day: number): Anomaly => {
  const atMs = startMs + day * dayMs
  return { code: 'outage', metric: null, startMs: atMs, endMs: atMs + hourMs, ...none }
}
const spike = (day: number, metric: string): Anomaly => {
  const atMs = startMs + day * dayMs
  return { code: 'spike', metric, startMs: atMs, endMs: atMs, value: 45, expected: [17, 23], count: 3 }
}
const found: Anomaly[] = [
  outage(3),
  spike(3, 'temperature'),
  spike(3, 'humidity'),
  spike(12, 'temperature'),
  outage(-2),
  spike(30, 'humidity'),
  { ...outage(-1), endMs: startMs + hourMs },
  { ...outage(29), endMs: null },
]

function page(limit: number, after?: string, of = found) {
  const input = { device: 'Mast', startMs, endMs, after, limit, custom: [], nowMs: endMs, local }
  return Anomalies.parse(JSON.parse(buildAnomalies({ ...input, found: of })))
}

t.test('newest first, those that reach into the range', async t => {
  const { anomalies, anomalies_total, next, start, end } = page(100)
  t.strictSame(Object.fromEntries(anomalies.map(({ id, end }) => [id, end])), {
    [`${startMs + 29 * dayMs}.outage.`]: null,
    [`${startMs + 12 * dayMs}.spike.temperature`]: '2026-01-13 01:00',
    [`${startMs + 3 * dayMs}.outage.`]: '2026-01-04 02:00',
    [`${startMs + 3 * dayMs}.spike.humidity`]: '2026-01-04 01:00',
    [`${startMs + 3 * dayMs}.spike.temperature`]: '2026-01-04 01:00',
    [`${startMs - dayMs}.outage.`]: '2026-01-01 02:00',
  })
  t.strictSame([anomalies_total, next, start, end], [6, null, '2026-01-01 01:00', '2026-01-31 01:00'])
  const reason = 'Temperature had a spike at 13 Jan 2026, 01:00: 45.0 °C, expected 17.0 °C to 23.0 °C'
  t.match(anomalies[1], { code: 'spike', metric: 'temperature', value: 45, expected: [17, 23], count: 3, reason })
  t.equal(anomalies[0]?.reason, 'No reading since 30 Jan 2026, 01:00')
})

t.test('a spike is reported at the time of its value', async t => {
  const atMs = startMs + 3 * dayMs
  const wide: Anomaly = { ...spike(3, 'temperature'), valueMs: atMs + 600_000, endMs: atMs + 1_200_000 }
  const { anomalies } = page(10, undefined, [wide, outage(2)])
  t.match(anomalies, [
    { start: '2026-01-04 01:00', value_at: '2026-01-04 01:10', end: '2026-01-04 01:20' },
    { start: '2026-01-03 01:00', value_at: null },
  ])
  t.match(anomalies[0]?.reason, /^Temperature had a spike at 4 Jan 2026, 01:10: 45\.0 °C,/)
})

t.test('a cold chain has excursions of half an hour, and no readings out of range', async t => {
  const timesMs = Float64Array.from({ length: 864 }, (_, place) => startMs + (place * hourMs) / 12)
  const isWithin = (place: number, from: number, to: number) => place >= from && place < to
  const temperature = timesMs.map((_, place) => {
    // A door, right after a defrost.
    if (isWithin(place, 100, 112)) return -10
    return isWithin(place % 96, 0, 5) ? -12 : -18 - 0.1 * (place % 3)
  })
  const found = (profile: AnalysedDevice['profile']) => {
    const { station: _, ...device } = { ...analysedStation(1, { sn: '1' } as never), profile }
    const none = timesMs.map(() => Number.NaN)
    const values = Object.fromEntries(metrics.map(name => [name, name === 'temperature' ? temperature : none]))
    return anomaliesOf({
      device: { ...device, quality_limits: { temperature: { min: -22, max: -15 } } },
      series: { timesMs, values: values as never },
      samples: [],
      cadence: cadenceOf(timesMs, null),
      beforeMs: undefined,
      endMs: (timesMs.at(-1) as number) + hourMs / 12,
      local,
    })
  }
  const beyond = (profile: AnalysedDevice['profile']) =>
    found(profile).filter(({ code }) => ['out_of_range', 'excursion'].includes(code))
  const excursion = { code: 'excursion', startMs: timesMs[96], endMs: timesMs[112], value: -10, expected: [-22, -15] }
  t.match(beyond('cold_chain'), [excursion])
  t.equal(beyond('cold_chain').length, 1)
  t.ok(beyond('none').every(({ code }) => code === 'out_of_range'))
  t.equal(beyond('none').length, 9, 'nine defrosts, one of them before the door')
})

t.test('pages of any size come to the same list', async t => {
  const whole = page(100).anomalies
  for (const limit of [1, 2, 4, 6]) {
    const pages = []
    let next: string | null | undefined
    do {
      const one = page(limit, next ?? undefined)
      t.ok(one.anomalies.length <= limit)
      pages.push(...one.anomalies)
      next = one.next
    } while (next !== null && pages.length <= whole.length)
    t.strictSame(pages, whole, `${limit} at a time`)
  }
  t.match(page(10, `${startMs - 5 * dayMs}.outage.`), { anomalies: [], next: null, anomalies_total: 6 })
  t.equal(page(1, `${startMs + 3 * dayMs}.spike.`).anomalies[0]?.metric, 'humidity', 'one that is gone')
})
