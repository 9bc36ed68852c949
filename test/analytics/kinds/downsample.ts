/** Downsampling keeps the features of a picture, for any series. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { downsample } from '../../../analytics/summary/downsample.ts'
import { runs } from '../../support/runs.ts'

const minuteMs = 60_000
const gapMs = 2.5 * minuteMs
const gaps = [{ fromMs: Number.NEGATIVE_INFINITY, gapMs }]

function minutes(values: readonly number[]): { timesMs: Float64Array; values: Float64Array } {
  return { timesMs: Float64Array.from(values, (_, index) => index * minuteMs), values: Float64Array.from(values) }
}

const reading = fc.record({
  value: fc.option(fc.integer({ min: -50, max: 50 }), { nil: Number.NaN, freq: 8 }),
  waitMs: fc.oneof(
    { weight: 20, arbitrary: fc.constant(minuteMs) },
    { weight: 1, arbitrary: fc.integer({ min: 3, max: 500 }).map(wait => wait * minuteMs) },
  ),
  flagged: fc.oneof({ weight: 30, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) }),
})

const cases = fc
  .tuple(fc.array(reading, { minLength: 1, maxLength: 400, size: 'max' }), fc.integer({ min: 4, max: 200 }))
  .map(([list, points]) => {
    let timeMs = 1_700_000_000_000
    return {
      timesMs: Float64Array.from(list, ({ waitMs }) => (timeMs += waitMs)),
      values: Float64Array.from(list, ({ value }) => value),
      flagged: Uint8Array.from(list, ({ flagged }) => flagged),
      points,
      gaps,
    }
  })

test('the result is an ordered subset of at most the requested size, with both ends and both extremes', async () => {
  fc.assert(
    fc.property(cases, options => {
      const { values, points } = options
      const { indices } = downsample(options)
      const present = [...values.keys()].filter(index => !Number.isNaN(values[index]))
      assert.ok(indices.length <= points)
      if (present.length <= points) assert.deepEqual([...indices], present)
      const chosen = new Set(indices)
      assert.equal(chosen.size, indices.length)
      assert.ok(indices.every((index, place) => place === 0 || index > (indices[place - 1] ?? 0)))
      assert.ok([...indices].every(index => !Number.isNaN(values[index])))
      if (present.length === 0) return
      assert.ok(chosen.has(present[0] ?? -1) && chosen.has(present.at(-1) ?? -1))
      const kept = [...indices].map(index => values[index] ?? Number.NaN)
      const all = present.map(index => values[index] ?? Number.NaN)
      assert.equal(Math.max(...kept), Math.max(...all))
      assert.equal(Math.min(...kept), Math.min(...all))
    }),
    runs(150, 1000),
  )
})

test('flagged readings and both sides of every gap stay, if the size allows', async () => {
  let tested = 0
  fc.assert(
    fc.property(cases, options => {
      const { timesMs, values, flagged, points } = options
      const present = [...values.keys()].filter(index => !Number.isNaN(values[index]))
      const gaps = present.slice(1).flatMap((index, place) => {
        const before = present[place] ?? 0
        return (timesMs[index] ?? 0) - (timesMs[before] ?? 0) > gapMs ? [before, index] : []
      })
      const marked = present.filter(index => flagged[index] !== 0)
      if (marked.length + gaps.length + 4 > points) return
      tested++
      const { indices, stepMaxMs } = downsample(options)
      const chosen = new Set(indices)
      assert.ok([...marked, ...gaps].every(index => chosen.has(index)))
      // A line breaks beyond the longest step at gaps only.
      for (let place = 1; place < indices.length; place++) {
        const [before = 0, index = 0] = indices.subarray(place - 1, place + 1)
        const stepMs = (timesMs[index] ?? 0) - (timesMs[before] ?? 0)
        const isGap = present.indexOf(index) === present.indexOf(before) + 1 && stepMs > gapMs
        if (!isGap) assert.ok(stepMs <= stepMaxMs)
      }
    }),
    runs(150, 1000),
  )
  assert.ok(tested > 20, `${tested} cases had room`)
})

test('too many flagged readings are thinned evenly, too many gaps to the longest', async t => {
  const line = minutes(Array.from({ length: 1000 }, (_, index) => Math.sin(index / 50)))
  const crowded = downsample({ ...line, points: 50, gaps, flagged: new Uint8Array(1000).fill(1) })
  t.ok(crowded.indices.length <= 50 && crowded.indices.length >= 46)
  const distances = [...crowded.indices].slice(1).map((index, place) => index - (crowded.indices[place] ?? 0))
  t.ok(Math.max(...distances) <= 25, 'spread over the whole line')

  const sparse = {
    timesMs: line.timesMs.map((timeMs, index) => timeMs * 5 + (index >= 500 ? 1e9 : 0)),
    values: line.values,
  }
  const { indices } = downsample({ ...sparse, points: 20, gaps })
  t.ok(indices.length <= 20)
  t.ok(indices.includes(499) && indices.includes(500), 'the longest gap is exact')
})

test('spikes of one reading and bends of a line survive', async t => {
  const flat = Array.from({ length: 10_000 }, (_, index) => (index % 2) / 10)
  const spiked = minutes(flat.with(4321, 9).with(7000, -9))
  const { indices } = downsample({ ...spiked, points: 100, gaps })
  t.ok(indices.includes(4321) && indices.includes(7000))
  t.ok(indices.length > 90, 'the room is used')
  // Slopes of 2.5 and −1.5 in turn: each bend is the corner of the largest triangle near it.
  const zigzag = minutes(Array.from({ length: 200 }, (_, index) => index / 2 + 2 * Math.abs(((index + 20) % 40) - 20)))
  const bends = [20, 40, 60, 80, 100, 120, 140, 160, 180]
  const drawn = downsample({ ...zigzag, points: 52, gaps }).indices
  for (const bend of bends) t.ok(drawn.includes(bend), `${bend}`)
})

test('an empty series, one reading and equal readings', async t => {
  const none = downsample({ ...minutes([Number.NaN, Number.NaN]), points: 4, gaps })
  t.strictSame([[...none.indices], none.stepMaxMs], [[], 0])
  t.strictSame([...downsample({ ...minutes([5]), points: 4, gaps }).indices], [0])
  const { indices } = downsample({ ...minutes(new Array(100).fill(5)), points: 10, gaps })
  t.ok(indices.length <= 10 && indices.includes(0) && indices.includes(99))
  t.throws(() => downsample({ ...minutes([1, 2, 3, 4, 5]), points: 3, gaps }), RangeError)
})
