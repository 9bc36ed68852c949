/** A cached answer at a later moment, compared with a new build at that moment. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import type { Series } from '../../../query/series.ts'
import { runs } from '../../support/runs.ts'
import { type Answer, ask, dayMs, every, hourMs, minuteMs, type Question, seriesOf } from './stats-of.ts'

const buildMs = Date.UTC(2026, 0, 31, 12, 0, 20)
const lengthsMs = { '24h': dayMs, '7d': 7 * dayMs, '30d': 30 * dayMs }

/** The time of the build is removed: it differs between the two. */
function live(query: Question): Answer {
  const { freshness, reliability } = ask(query)
  return { freshness, reliability }
}

/** True if a window's start has passed a reading. */
function isPassed(series: Series, fromMs: number, untilMs: number): boolean {
  const [before, after] = [fromMs, untilMs].map(timeMs => Math.floor(timeMs / minuteMs) * minuteMs) as [number, number]
  const firstMs = series.timesMs[0] ?? Number.POSITIVE_INFINITY
  return Object.values(lengthsMs).some(lengthMs => {
    // A window of a younger device does not slide.
    return (
      firstMs <= after - lengthMs &&
      series.timesMs.some(timeMs => timeMs >= before - lengthMs && timeMs < after - lengthMs)
    )
  })
}

/** Intervals with losses and silences. The last reading is up to five minutes ahead of the build. */
const devices = fc.record({
  stepMs: fc.constantFrom(7000, minuteMs, 5 * minuteMs, 20 * minuteMs),
  steps: fc.array(fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 40 })), {
    minLength: 1,
    maxLength: 120,
  }),
  jitterMs: fc.integer({ min: 0, max: 3000 }),
  lastMs: fc.oneof(fc.integer({ min: -3 * hourMs, max: 5 * minuteMs }), fc.integer({ min: -40 * dayMs, max: 0 })),
  hasPredecessor: fc.boolean(),
  missing: fc.integer({ min: 1, max: 5 }),
  expected_interval_seconds: fc.constantFrom(null, 60, 300),
  log_switch: fc.boolean(),
})

function queryOf(made: typeof devices extends fc.Arbitrary<infer Made> ? Made : never): Question {
  let timeMs = 0
  const offsets = made.steps.map(
    (steps, place) => (timeMs += steps * made.stepMs + ((place * 7919) % (made.jitterMs + 1))),
  )
  const shiftMs = buildMs + made.lastMs - timeMs
  const value = (_: number, place: number) => (place % made.missing === 1 ? Number.NaN : place % 9)
  const series = seriesOf(
    offsets.map(offset => offset + shiftMs),
    { temperature: value, humidity: place => place },
  )
  const first = series.timesMs[0] as number
  const { expected_interval_seconds, log_switch } = made
  const predecessorMs = made.hasPredecessor ? Math.min(first, buildMs - 30 * dayMs) - 90 * minuteMs : undefined
  return { series, predecessorMs, device: { expected_interval_seconds, log_switch }, nowMs: buildMs }
}

/** Jitter dates from the build. The hours of an irregular device's window begin with the build, so they move across readings. */
function forgetWhatDrifts(reliability: Answer): void {
  reliability.jitter_seconds = null
  reliability.jitter_p95_seconds = null
  for (const window of Object.values<Answer>(reliability.windows)) if (!window.truncated) window.hours_with_data = null
}

test('a later answer equals a new build unless a window has passed a reading', async () => {
  let compared = 0
  fc.assert(
    fc.property(devices, fc.integer({ min: 0, max: 20 * minuteMs }), (made, laterMs) => {
      const query = queryOf(made)
      const givenMs = buildMs + laterMs
      if (isPassed(query.series, buildMs, givenMs)) return
      const kept = live({ ...query, givenMs })
      const rebuilt = live({ ...query, nowMs: givenMs })
      for (const { reliability } of [kept, rebuilt]) forgetWhatDrifts(reliability)
      assert.deepEqual(kept, rebuilt)
      compared++
    }),
    runs(80, 400),
  )
  assert.ok(compared > 40, `${compared} moments were compared`)
})

test('readings that a window has passed still count in slightly outdated shares', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: 100, maxLength: 100 }),
      fc.integer({ min: 0, max: 300 }),
      (losses, minutes) => {
        const times = every(minuteMs, buildMs - 40 * dayMs, 40 * 1440).filter((_, place) => losses[place % 100])
        if (times.length === 0) return
        const series = seriesOf(times, { temperature: () => 1 })
        const query = { series, nowMs: buildMs, device: { expected_interval_seconds: 60 } }
        const givenMs = buildMs + minutes * minuteMs
        const kept = live({ ...query, givenMs })
        const rebuilt = live({ ...query, nowMs: givenMs })
        for (const [name, lengthMs] of Object.entries(lengthsMs)) {
          const [one, other] = [kept.reliability.windows[name], rebuilt.reliability.windows[name]]
          const share = (minutes * minuteMs) / lengthMs + 1e-9
          for (const figure of ['uptime', 'completeness'])
            assert.ok(Math.abs(one[figure] - other[figure]) <= share, figure)
        }
        assert.deepEqual(kept.reliability.days, rebuilt.reliability.days)
        assert.deepEqual(kept.freshness, rebuilt.freshness)
      },
    ),
    runs(4, 15),
  )
})

test('a silence that begins after the build is reported', async t => {
  const series = seriesOf(every(minuteMs, buildMs - 3 * dayMs, 3 * 1440), { temperature: () => 1 })
  const lastMs = series.timesMs.at(-1) as number
  const query = { series, nowMs: buildMs }
  t.equal(live(query).reliability.gaps_total, 0)
  const after = (minutes: number) => live({ ...query, givenMs: lastMs + minutes * minuteMs })
  t.strictSame(after(10).reliability.gaps, [
    { start: '2026-01-31 11:59', end: null, duration_seconds: 580, missed: 9, ongoing: true },
  ])
  const window = { gap_count: 1, longest_gap_seconds: 580, downtime_seconds: 520, mttr_seconds: 520 }
  t.match(after(10).reliability.windows['24h'], window)
  const states = [1, 3, 10, 2000].map(minutes => after(minutes).freshness.state)
  t.strictSame(states, ['fresh', 'late', 'stale', 'offline'])
  t.equal(after(12 * 60).reliability.days.at(-1).date, '2026-01-31')
  t.strictSame(after(12 * 60 + 2).reliability.days.at(-1), { date: '2026-02-01', completeness: 0, state: 'missing' })
})

test('the build and the live part each have their time', async t => {
  const series = seriesOf(every(minuteMs, buildMs - 3 * dayMs, 3 * 1440), { temperature: () => 1 })
  const { generated_at, freshness, reliability } = ask({ series, nowMs: buildMs, givenMs: buildMs + 90 * minuteMs })
  t.strictSame([generated_at, freshness.as_of], ['2026-01-31 12:00', '2026-01-31 13:30'])
  t.equal(reliability.as_of, freshness.as_of)
})
