import { test } from 'tap'
import { type Cadence, cadenceOf } from '../../../analytics/reliability/cadence.ts'
import { type Aggregate, aggregate, timeWeightedMean } from '../../../analytics/summary/aggregates.ts'
import { localDays } from '../../../analytics/time/local-days.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { deviation, type Fixture, floats, readFixture, timesFrom } from '../fixture.ts'
import { above, everySeconds, hourMs } from '../series.ts'

const figures = ['mean', 'tw_mean', 'mean_of_hours', 'min', 'max', 'median', 'p05', 'p95', 'first', 'last'] as const

const reference = readFixture('aggregates')
const berlin = createLocalTime('Europe/Berlin')
const never = Number.POSITIVE_INFINITY

function agrees(found: Aggregate, expected: Fixture): string[] {
  const wrong: string[] = figures.filter(figure => deviation(found[figure], expected[figure]) > 1e-12)
  if (deviation(found.std, expected.std) > 1e-10) wrong.push('std')
  if (found.count !== expected.count) wrong.push('count')
  if (deviation(found.coverage, expected.coverage) > 1e-12) wrong.push('coverage')
  if (found.valid !== expected.coverage >= 0.75) wrong.push('valid')
  const seconds = (timeMs: number | null) => (timeMs === null ? null : timeMs / 1000)
  if (seconds(found.min_at_ms) !== expected.min_at || seconds(found.max_at_ms) !== expected.max_at) wrong.push('at')
  return wrong
}

for (const season of ['spring', 'autumn'] as const) {
  const { start, steps_between, values, days, hours, groups } = reference[season]
  const series = { timesMs: timesFrom(start * 1000, steps_between), values: floats(values) }
  const input = { ...series, cadence: everySeconds(300), nowMs: never }

  test(`${season}: every figure of a local day matches pandas and numpy`, async t => {
    const buckets = localDays(berlin, (days.at(-1)?.start ?? 0) * 1000, days.length)
    const lengths = buckets.map(({ startMs, endMs }) => (endMs - startMs) / hourMs)
    t.strictSame(lengths, [24, season === 'spring' ? 23 : 25, 24])
    const found = aggregate(input, buckets)
    for (const [index, day] of found.entries()) t.strictSame(agrees(day, days[index]), [], `day ${index}`)
    for (const [index, { date, startMs, endMs }] of buckets.entries()) {
      t.strictSame([startMs / 1000, endMs / 1000], [days[index].start, days[index].end])
      const { count, mean, std, median, p05, p95 } = found[index] as Aggregate
      const group = groups[date]
      t.equal(count, group.count, `${date}: as many samples as pandas groups into it`)
      const errors = [deviation(mean, group.mean), deviation(std, group.std), deviation(median, group.median)]
      t.ok(Math.max(...errors, deviation(p05, group.p05), deviation(p95, group.p95)) < 1e-12, date)
    }
  })

  test(`${season}: every figure of an hour matches numpy`, async t => {
    const buckets = hours.map((hour: Fixture) => ({ startMs: hour.start * 1000, endMs: hour.end * 1000 }))
    const wrong = aggregate(input, buckets).flatMap((hour, index) => agrees(hour, hours[index]))
    t.strictSame(wrong, [])
  })
}

test('golden: the time-weighted mean neither counts nor bridges a gap', async t => {
  const timesMs = Float64Array.of(0, 60_000, 120_000, 600_000)
  const values = Float64Array.of(10, 10, 10, 30)
  t.equal(timeWeightedMean(timesMs, values, above(150_000)), 10)
  t.equal(timeWeightedMean(timesMs, values, above(600_000)), 18, 'linear over everything')
  t.equal(timeWeightedMean(timesMs, values, above(10_000)), 15, 'without a segment the plain mean')
  t.equal(timeWeightedMean(timesMs, values, []), 15)
  t.equal(timeWeightedMean(Float64Array.of(5), Float64Array.of(7), above(1000)), 7, 'one sample')
  t.ok(Number.isNaN(timeWeightedMean(timesMs, new Float64Array(4).fill(Number.NaN), above(1000))))
})

test('a segment across an edge is cut there', async t => {
  const timesMs = Float64Array.of(0, 100, 200, 300)
  const values = Float64Array.of(0, 10, Number.NaN, 30)
  const mean = (fromMs: number, toMs: number) => timeWeightedMean(timesMs, values, above(200), fromMs, toMs)
  t.equal(mean(50, 150), 10, 'from 5 at 50 to 15 at 150, with one sample inside')
  t.equal(mean(100, 300), 20, 'the sample at the end is outside, its segment is not')
  t.ok(Number.isNaN(mean(150, 250)), 'no sample inside, no mean')
})

test('an empty bucket has a count of 0 and nulls, a bucket of one sample no spread', async t => {
  const cadence = cadenceOf(new Float64Array(0), null)
  const series = { timesMs: Float64Array.of(10), values: Float64Array.of(4), cadence, nowMs: never }
  const hours = [0, 1].map(hour => ({ startMs: hour * hourMs, endMs: (hour + 1) * hourMs }))
  const [one, none] = aggregate(series, hours)
  const nulls = Object.fromEntries(Object.keys(none ?? {}).map(key => [key, null]))
  t.strictSame(none, { ...nulls, count: 0, valid: false })
  const { count, mean, tw_mean, min, max, std, median, p05, p95, first, last, min_at_ms } = one as Aggregate
  t.strictSame([count, mean, tw_mean, min, max, median, p05, p95, first, last], [1, 4, 4, 4, 4, 4, 4, 4, 4, 4])
  t.strictSame([std, min_at_ms], [null, 10])
})

test('the current day is measured by the readings due so far, an irregular device by its hours', async t => {
  const times = (stepMs: number, count: number) => Float64Array.from({ length: count }, (_, index) => index * stepMs)
  const day = { startMs: 0, endMs: 24 * hourMs }
  const timesMs = times(60_000, 600)
  const series = { timesMs, values: timesMs, cadence: everySeconds(60) }
  const at = (nowMs: number) => (aggregate({ ...series, nowMs }, [day])[0] as Aggregate).coverage
  t.strictSame([at(10 * hourMs), at(20 * hourMs), at(never)], [1, 0.5, 600 / 1440])
  const irregular: Cadence = { ...series.cadence, kind: 'irregular' }
  const few = times(2 * hourMs, 12)
  const [found] = aggregate({ timesMs: few, values: few, cadence: irregular, nowMs: never }, [day])
  t.equal(found?.coverage, 0.5)
  const close = Float64Array.of(hourMs - 1000, hourMs, 2.2 * hourMs)
  const input = { timesMs: close, values: close, cadence: { ...irregular, expectedMs: hourMs } }
  const [half] = aggregate({ ...input, nowMs: 5.5 * hourMs }, [day])
  t.equal(half?.coverage, 0.5, 'three of six hours, the last of them half over, however close two readings are')
})
