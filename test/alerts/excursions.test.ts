/** Excursions are those of the preview of a rule on the same threshold. */

import fc from 'fast-check'
import { test } from 'tap'
import { Condition } from '../../alerts/core/condition.ts'
import { PreviewRun } from '../../alerts/preview/preview-run.ts'
import { findExcursions } from '../../analytics/excursions/excursions.ts'
import { createLocalTime } from '../../analytics/time/local-time.ts'

const startMs = Date.UTC(2026, 0, 5)
const endMs = startMs + 10 * 86_400_000
const minuteMs = 60_000
/** So far apart that no pair changes too often, and never so far that there is a gap. */
const [stepMin, stepMax] = [15, 60]

function previewed(
  direction: 'above' | 'below',
  threshold: number,
  forSeconds: number,
  timesMs: number[],
  values: number[],
) {
  const condition = Condition.parse({ kind: direction, metric: 'temperature', value: threshold, hysteresis: 0 })
  const run = new PreviewRun(
    {
      rule: { condition, for_seconds: forSeconds, keep_firing_seconds: 0 },
      timeZone: 'UTC',
      fromMs: startMs,
      toMs: endMs,
      readFromMs: startMs,
      devices: [{ number: 1, afterMs: endMs, expectedMs: minuteMs, lastMs: Number.NaN }],
    },
    createLocalTime('UTC'),
  )
  run.take({
    device: new Int32Array(values.length).fill(1),
    timesUs: Float64Array.from(timesMs, timeMs => timeMs * 1000),
    values: [Float64Array.from(values)],
    length: values.length,
  })
  return run.end().devices[0]?.intervals ?? []
}

test('without gaps, excursions are the alerts that a rule would have made', async t => {
  const readings = fc.array(fc.tuple(fc.integer({ min: stepMin, max: stepMax }), fc.integer({ min: 0, max: 20 })), {
    minLength: 1,
    maxLength: 150,
  })
  let episodesSeen = 0
  const property = fc.property(
    readings,
    fc.constantFrom('above', 'below'),
    fc.integer({ min: 3, max: 17 }),
    fc.integer({ min: 0, max: 240 }),
    (given, direction, threshold, forMinutes) => {
      let timeMs = startMs
      const timesMs = given.map(([minutes]) => {
        timeMs += minutes * minuteMs
        return timeMs
      })
      const values = given.map(([, value]) => value)
      const fired = previewed(direction, threshold, forMinutes * 60, timesMs, values)
      const { episodes, days } = findExcursions(
        { timesMs: Float64Array.from(timesMs), values: Float64Array.from(values) },
        {
          above: direction === 'above' ? threshold : null,
          below: direction === 'below' ? threshold : null,
          forMs: forMinutes * minuteMs,
          gaps: [{ fromMs: Number.NEGATIVE_INFINITY, gapMs: endMs }],
          startMs,
          endMs,
          days: [{ startMs, endMs }],
        },
      )
      episodesSeen += episodes.length
      const isSame = episodes.every((episode, at) => {
        const { fromMs = Number.NaN, toMs = Number.NaN } = fired[at] ?? {}
        const endsAlike = Number.isNaN(toMs) ? episode.isOngoing : episode.endMs === toMs
        const laterMs = fromMs - (episode.startMs + forMinutes * minuteMs)
        return endsAlike && laterMs >= 0 && laterMs < stepMax * minuteMs
      })
      return isSame && episodes.length === fired.length && days[0]?.count === fired.length
    },
  )
  fc.assert(property, { numRuns: 400, seed: 20_261_126 })
  t.ok(episodesSeen > 100, `seed 20261126, ${episodesSeen} excursions`)
})
