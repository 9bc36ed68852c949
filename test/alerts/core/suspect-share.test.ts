/** The suspect share of an hour, and the hours for which a few numbers determine it. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { type DeviceQuality, hourMs, SuspectScreen, suspectShare } from '../../../alerts/core/suspect-share.ts'
import { type MetricSettings, qualityLimits } from '../../../analytics/quality/quality-limits.ts'
import { runs } from '../../support/runs.ts'

const minuteMs = 60_000
const endMs = Date.UTC(2026, 0, 2)
const beginMs = endMs - hourMs
const day = 24 * 60

function qualityOf(metrics: readonly string[], settings: MetricSettings = {}): DeviceQuality {
  return { expectedMs: null, limits: metrics.map(metric => qualityLimits(metric, null, settings)) }
}

/** A reading a minute of the day up to the end of the hour. */
function dayOf(...made: ((minute: number) => number)[]) {
  return {
    timesMs: Float64Array.from({ length: day }, (_, minute) => endMs - (day - minute) * minuteMs),
    values: made.map(value => Float64Array.from({ length: day }, (_, minute) => value(minute))),
  }
}

const usual = (minute: number) => 20 + 3 * Math.sin((2 * Math.PI * minute) / day) + (minute % 3) / 10
const sixth = day - 54

test('the share counts the readings of the hour, with the day up to its end', async t => {
  const none = Number.NaN
  const days: Record<string, [made: (minute: number) => number, share: number]> = {
    'as usual': [usual, 0],
    'out of range, and the last one before the jump': [minute => (minute >= day - 30 ? 60 : usual(minute)), 31 / 60],
    'of the hour before, only the jump to this one': [minute => (minute < day - 60 ? 60 : usual(minute)), 1 / 60],
    'of thirty with a value, the wild one and both its neighbours': [
      minute => (minute % 2 === 0 ? none : minute === sixth + 1 ? 60 : usual(minute)),
      3 / 30,
    ],
    'without a reading': [minute => (minute < day - 60 ? usual(minute) : none), none],
  }
  for (const [name, [made, share]] of Object.entries(days)) {
    t.same(suspectShare(dayOf(made), beginMs, qualityOf(['temperature'])), share, name)
  }
})

test('a flat line makes the whole hour suspect, except on a flat day', async t => {
  const shareOf = (stuckMinutes: number, settings: MetricSettings = {}) => {
    const stuck = dayOf(minute => (minute < day - stuckMinutes ? usual(minute) : 21.3))
    return suspectShare(stuck, beginMs, qualityOf(['temperature'], settings))
  }
  t.equal(shareOf(120), 0, 'it takes three hours')
  t.equal(shareOf(200), 1)
  t.equal(shareOf(20 * 60), 1)
  t.same(shareOf(day), Number.NaN)
  t.equal(shareOf(day, { flat_hours: 6 }), 1, 'a sensor with a setting')
})

test('a reading with one suspect value of several metrics is suspect', async t => {
  const window = dayOf(usual, minute => (minute >= day - 15 ? 120 : 50 + (minute % 7)))
  const quality = qualityOf(['temperature', 'humidity'])
  const limits = [quality.limits[0], { ...quality.limits[1], range: [0, 100] }] as DeviceQuality['limits']
  t.equal(suspectShare(window, beginMs, { ...quality, limits }), 16 / 60)
})

const sensor = fc.record({
  metric: fc.constantFrom('temperature', 'humidity', 'pressure', 'co2'),
  level: fc.constantFrom(-40, 20, 60, 97, 1013),
  swing: fc.constantFrom(0, 0.02, 0.3, 4),
  noise: fc.constantFrom(0, 0.01, 0.5, 8),
  quantum: fc.constantFrom(0.01, 0.1, 1),
  stepMinutes: fc.constantFrom(1, 5, 30, 90),
  stuckHours: fc.constantFrom(0, 2, 5, 24),
  missing: fc.constantFrom(0, 0.3, 0.9),
  settings: fc.constantFrom({}, { rate: 0.05 }, { flat_hours: 1 }, { spike: null, max: 30 }, { quantum: 2 }),
  noises: fc.array(fc.tuple(fc.double({ min: -1, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })), {
    minLength: 50,
    maxLength: 50,
  }),
})

test("a share determined by the few numbers equals that of the day's readings", async t => {
  let certain = 0
  fc.assert(
    fc.property(
      sensor,
      ({ metric, level, swing, noise, quantum, stepMinutes, stuckHours, missing, settings, noises }) => {
        const length = day / stepMinutes
        const timesMs = Float64Array.from(
          { length },
          (_, index) => endMs - (length - index) * stepMinutes * minuteMs + 7,
        )
        const stuckMs = endMs - stuckHours * hourMs
        const values = timesMs.map((timeMs, index) => {
          const [own, chance] = noises[(index * 7) % noises.length] as [number, number]
          if (chance < missing) return Number.NaN
          if (timeMs >= stuckMs) return level
          return Math.round((level + swing * Math.sin(index / 40) + noise * own) / quantum) * quantum
        })
        const quality = qualityOf([metric], settings)
        const screen = new SuspectScreen(beginMs, 1, 1)
        for (const [row, timeMs] of timesMs.entries()) {
          if (timeMs >= screen.fromMs) screen.take(0, 0, timeMs, values[row] as number)
        }
        const share = screen.share(0, [0], quality)
        if (share === undefined) return
        certain++
        assert.deepEqual(share, suspectShare({ timesMs, values: [values] }, beginMs, quality))
      },
    ),
    runs(80, 1000),
  )
  t.ok(certain > 5, `${certain} hours`)
})
