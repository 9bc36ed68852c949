import { test } from 'tap'
import { type Cadence, cadenceOf } from '../../../analytics/reliability/cadence.ts'
import { type Reliability, reliabilityAt } from '../../../analytics/reliability/reliability.ts'
import { type ReliabilityInput, recordReliability } from '../../../analytics/reliability/reliability-record.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { deviation, type Fixture, readFixture, timesFrom } from '../fixture.ts'
import { dayMs, hourMs } from '../series.ts'

const shares = ['uptime', 'completeness', 'hours_with_data', 'received', 'expected', 'gap_count'] as const
const times = ['longest_gap_seconds', 'downtime_seconds', 'mtbf_seconds', 'mttr_seconds'] as const
const figures = [...shares, ...times, 'mtbf_lower_bound_seconds'] as const
const windows = ['24h', '7d', '30d'] as const

const reference = readFixture('reliability')
const utc = createLocalTime('UTC')
const berlin = createLocalTime('Europe/Berlin')
const everyMinute = cadenceOf(new Float64Array(0), 60_000)

function reliabilityOf(input: ReliabilityInput): Reliability {
  return reliabilityAt(recordReliability(input), input.nowMs, input.local)
}

function inputOf(found: Fixture): ReliabilityInput {
  const timesMs = timesFrom(found.start * 1000, found.steps_between)
  const temperature = new Float64Array(timesMs.length)
  for (const place of found.missing) temperature[place] = Number.NaN
  const cadence: Cadence = {
    kind: found.irregular ? 'irregular' : 'regular',
    expectedMs: found.expected * 1000,
    source: 'estimated',
    regularity: 1,
    gapMs: found.gap * 1000,
    pacedGap: null,
    stretches: [{ fromMs: Number.NEGATIVE_INFINITY, expectedMs: found.expected * 1000, gapMs: found.gap * 1000 }],
  }
  // The request comes in the middle of the minute.
  const nowMs = reference.now * 1000 + 34_567
  const beforeMs = found.first_seen < found.start ? found.first_seen * 1000 : null
  return { timesMs, beforeMs, metrics: { temperature }, nowMs, cadence, local: berlin }
}

function every(stepMs: number, fromMs: number, untilMs: number): Float64Array {
  return Float64Array.from({ length: Math.ceil((untilMs - fromMs) / stepMs) }, (_, index) => fromMs + index * stepMs)
}

/** The input for a device with these times and no others. */
function whole(timesMs: Float64Array, nowMs: number, cadence: Cadence, local = utc): ReliabilityInput {
  return { timesMs, beforeMs: null, metrics: {}, nowMs, cadence, local }
}

for (const [name, expected] of Object.entries<Fixture>(reference.cases)) {
  test(`${name}: every figure matches a check of every second`, async t => {
    const found = reliabilityOf(inputOf(expected))
    for (const key of windows) {
      const window = found.windows[key]
      const wrong = figures.filter(figure => !(deviation(window[figure], expected.windows[key][figure]) <= 1e-9))
      t.strictSame(wrong, [], key)
      t.equal(window.truncated, expected.windows[key].truncated, key)
      t.ok(deviation(window.metrics['temperature']?.completeness ?? null, expected.windows[key].metric) < 1e-9, key)
    }
    t.equal(found.gap_threshold_seconds, expected.gap)
    t.ok(deviation(found.jitter_seconds, expected.jitter_seconds) < 1e-9, `${found.jitter_seconds}`)
    t.ok(deviation(found.jitter_p95_seconds, expected.jitter_p95_seconds) < 1e-9, `${found.jitter_p95_seconds}`)
    t.equal(found.gaps[0]?.ongoing, expected.ongoing)
    const ended = found.gaps.filter(gap => !gap.ongoing)
    t.equal(found.gaps_total, expected.gaps.length + (expected.ongoing ? 1 : 0))
    const gaps = ended.map(gap => [gap.start_ms / 1000, (gap.end_ms ?? 0) / 1000, gap.duration_seconds, gap.missed])
    t.strictSame(gaps, expected.gaps.slice(0, ended.length))
    t.equal(found.gaps.length, Math.min(50, found.gaps_total))
    if (expected.days === null) return
    t.equal(found.days.length, expected.days.length)
    for (const [index, { date, completeness, state }] of found.days.entries()) {
      t.strictSame([date, state], [expected.days[index][0], expected.days[index][2]])
      t.ok(deviation(completeness, expected.days[index][1]) < 1e-9, date)
    }
  })
}

test('a window without readings has counts of 0 and rates of null', async t => {
  const unknown = cadenceOf(new Float64Array(0), null)
  for (const cadence of [unknown, everyMinute]) {
    const { windows: found, gaps, gaps_total, days, ...rest } = reliabilityOf(whole(new Float64Array(0), 1e12, cadence))
    const { received, gap_count, longest_gap_seconds, truncated, expected, metrics, ...rates } = found['7d']
    t.strictSame([received, gap_count, longest_gap_seconds, truncated, gaps_total], [0, 0, 0, false, 0])
    t.strictSame(new Set(Object.values(rates)), new Set([null]))
    t.equal(expected, cadence === unknown ? null : 7 * 1440)
    t.strictSame([gaps, metrics, rest.jitter_seconds, rest.jitter_p95_seconds], [[], {}, null, null])
    t.equal(days.length, 30)
    t.ok(days.every(day => day.state === null && day.completeness === null))
  }
})

test('an ongoing silence has no end, even if it fills the window', async t => {
  const nowMs = 50 * dayMs
  const timesMs = every(60_000, 0, 10 * dayMs)
  const { windows: found, gaps } = reliabilityOf({ ...whole(timesMs.slice(-1), nowMs, everyMinute), beforeMs: 0 })
  const duration_seconds = 40 * 86_400 + 60
  const start_ms = 10 * dayMs - 60_000
  t.strictSame(gaps, [{ start_ms, end_ms: null, duration_seconds, missed: 40 * 1440, ongoing: true }])
  const { uptime, completeness, downtime_seconds, longest_gap_seconds, mtbf_seconds } = found['30d']
  t.strictSame([uptime, completeness, downtime_seconds, mtbf_seconds], [0, 0, 30 * 86_400, 0])
  t.equal(longest_gap_seconds, duration_seconds)
})

test('two and a half intervals are not a gap, a millisecond more is one', async t => {
  const gaps = (stepMs: number) => reliabilityOf(whole(Float64Array.of(0, stepMs), 240_000, everyMinute)).gaps_total
  t.strictSame([gaps(150_000), gaps(150_001)], [0, 1])
})

test('a burst or a backfill does not hide a loss', async t => {
  const half = every(60_000, 0, dayMs).filter(timeMs => timeMs % 300_000 !== 0)
  const twice = Float64Array.from([...half, ...half.map(timeMs => timeMs + 1000)]).toSorted()
  const { uptime, completeness, received, metrics } = reliabilityOf({
    ...whole(twice, dayMs, everyMinute),
    beforeMs: 0,
    metrics: { humidity: twice.map((_, index) => (index < twice.length / 2 ? Number.NaN : 1)) },
  }).windows['24h']
  t.strictSame([received, completeness, uptime], [1152, 0.8, 1])
  t.strictSame(metrics, { humidity: { completeness: 0.4 } })
})

test('a local day is measured by its true length, the current one by its elapsed part', async t => {
  const days = (end: string) => {
    const nowMs = Date.parse(end)
    return reliabilityOf(whole(every(60_000, nowMs - 20 * dayMs, nowMs), nowMs, everyMinute, berlin)).days
  }
  for (const [end, change] of Object.entries({
    '2025-04-05T11:30Z': '2025-03-30',
    '2025-11-05T11:30Z': '2025-10-26',
  })) {
    const found = days(end)
    t.equal(found.length, 30)
    const changed = found.find(({ date }) => date === change)
    t.strictSame(changed, { date: change, completeness: 1, state: 'ok' })
    t.strictSame(found.at(-1), { date: end.slice(0, 10), completeness: 1, state: 'ok' })
    t.strictSame(found[0], { ...found[0], completeness: null, state: null }, 'before the device’s first reading')
    t.equal(found.filter(day => day.state === 'partial').length, 0, 'the day of its first reading begins with that')
  }
})

test('readings after the full minute do not count', async t => {
  const nowMs = 2 * dayMs
  const known = every(60_000, 0, nowMs)
  const ahead = Float64Array.of(...known, nowMs + 30_000, nowMs + hourMs)
  const found = reliabilityOf(whole(ahead, nowMs + 59_000, everyMinute))
  t.strictSame(found, reliabilityOf(whole(known, nowMs, everyMinute)))
  t.equal(found.windows['24h'].completeness, 1)
})
