/** Directions against astropy and numpy. Fixture: fixtures/direction.py. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import {
  type CircularSummary,
  circularSummary,
  rose,
  type SectorCount,
} from '../../../analytics/direction/circular-summary.ts'
import { normaliseDegrees, turnBetween } from '../../../analytics/direction/degrees.ts'
import {
  directionAggregates,
  type VectorMean,
  vectorAggregates,
  vectorMean,
} from '../../../analytics/direction/vector-mean.ts'
import { localDays } from '../../../analytics/time/local-days.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { deviation, type Fixture, floats, readFixture, timesFrom } from '../fixture.ts'
import { found } from '../series.ts'

const reference = readFixture('direction')
const cases = Object.entries<Fixture>(reference.series)

/** The angle between two directions in degrees. */
function apart(a: number | null, b: number): number {
  return a === null ? Number.POSITIVE_INFINITY : Math.abs(turnBetween(a, normaliseDegrees(b)))
}

/** Near R = 1, the references lose digits of 1 − R and of figures derived from it. */
function agrees(summary: CircularSummary, expected: Fixture): boolean {
  const { mean_degrees, circular_variance, resultant_length, rayleigh_p_value } = summary
  return (
    apart(mean_degrees, expected.mean) < 1e-10 &&
    Math.abs(found(circular_variance) - expected.variance) < 1e-14 &&
    Math.abs(found(resultant_length) - expected.length) < 1e-14 &&
    deviation(rayleigh_p_value, expected.rayleigh) < 1e-11
  )
}

function isVector(mean: VectorMean, expected: Fixture): boolean {
  const { count, mean_speed, mean_u, mean_v, vector_speed, vector_direction_degrees, steadiness } = mean
  return (
    count === expected.count &&
    deviation(mean_speed, expected.mean_speed) < 1e-12 &&
    Math.abs(found(mean_u) - expected.mean_u) < 1e-13 &&
    Math.abs(found(mean_v) - expected.mean_v) < 1e-13 &&
    deviation(vector_speed, expected.vector_speed) < 1e-11 &&
    apart(vector_direction_degrees, expected.vector_direction) < 1e-10 &&
    deviation(steadiness, expected.steadiness) < 1e-11
  )
}

test('weighted figures and the Rayleigh test match astropy', async t => {
  for (const [name, known] of cases) {
    const values = floats(known.degrees)
    t.ok(agrees(circularSummary(values), known.astropy), name)
    const weighted = circularSummary(values, Float64Array.from(known.weights))
    t.ok(agrees(weighted, known.weighted), `${name}, weighted`)
    if (known.weighted.variance > 1e-3) t.ok(deviation(weighted.circular_std_degrees, known.weighted_std) < 1e-11, name)
  }
})

test('vector means match numpy', async t => {
  for (const [name, { degrees, speeds, vector }] of cases) {
    t.ok(isVector(vectorMean(floats(degrees), Float64Array.from(speeds)), vector), name)
  }
})

test('roses are histograms of numpy, turned by half a sector', async t => {
  for (const [name, { degrees, speeds, roses, rose_without_calm, calm, count }] of cases) {
    const values = floats(degrees)
    for (const [sectors, expected] of Object.entries<Fixture>(roses)) {
      const { sector_counts, calm_count, calm_share } = rose(values, Number(sectors) as SectorCount)
      t.strictSame(sector_counts, expected, `${name}, ${sectors}`)
      t.strictSame([calm_count, calm_share], [null, null], 'no speed, no calm')
    }
    const present = Float64Array.from(speeds, (speed: number, index) => (degrees[index] === null ? Number.NaN : speed))
    const paired = rose(values, 16, { speeds: present, calmBelow: 1.5 })
    t.strictSame(paired.sector_counts, rose_without_calm, name)
    t.strictSame([paired.count, paired.calm_count, paired.calm_share], [count, calm, calm / count], name)
  }
})

test('figures of local days match the zone’s calendar, including a day of 23 hours', async t => {
  const { start, steps_between, degrees, speeds, days } = reference.berlin
  const samples = { timesMs: timesFrom(start * 1000, steps_between), values: Float64Array.from(degrees) }
  const buckets = localDays(createLocalTime('Europe/Berlin'), samples.timesMs.at(-1) ?? 0, days.length)
  const summaries = directionAggregates(samples, buckets)
  const vectors = vectorAggregates(samples, Float64Array.from(speeds), buckets)
  for (const [index, day] of days.entries()) {
    const { count, mean_degrees, circular_variance } = found(summaries[index])
    t.strictSame([buckets[index]?.date, count], [day.date, day.count])
    t.ok(apart(mean_degrees, day.mean) < 1e-10, day.date)
    t.ok(Math.abs(found(circular_variance) - day.variance) < 1e-14, day.date)
    t.ok(isVector(found(vectors[index]), day.vector), day.date)
  }
})

test('directions that cancel out have no mean and no deviation', async t => {
  for (const text of ['10 190', '0 90 180 270', '0 120 240', '17.1 197.1', '-30 90 210']) {
    const list = text.split(' ').map(Number)
    const { mean_degrees, resultant_length, circular_std_degrees } = circularSummary(Float64Array.from(list))
    t.strictSame([mean_degrees, circular_std_degrees], [null, null], `${list}`)
    t.ok(found(resultant_length) < 1e-15)
    const speeds = new Float64Array(list.length).fill(7)
    const { vector_direction_degrees, steadiness } = vectorMean(Float64Array.from(list), speeds)
    t.equal(vector_direction_degrees, null)
    t.ok(found(steadiness) < 1e-15)
  }
  t.equal(circularSummary(Float64Array.of(10, 190.000_001)).mean_degrees !== null, true, 'a real rest has a direction')
})

test('edges: an empty series, one value, and values that are not angles', async t => {
  const { count, ...rest } = circularSummary(Float64Array.of(Number.NaN, Number.POSITIVE_INFINITY))
  t.equal(count, 0)
  t.ok(Object.values(rest).every(figure => figure === null))
  t.equal(circularSummary(Float64Array.of(4), Float64Array.of(0)).count, 0, 'a weight of 0')
  t.strictSame(vectorMean(new Float64Array(0), new Float64Array(0)).count, 0)
  const one = vectorMean(Float64Array.of(-90), Float64Array.of(3))
  t.strictSame([one.mean_u, one.vector_direction_degrees, one.steadiness], [3, 270, 1], 'from the west, to the east')
  const calm = vectorMean(Float64Array.of(90, 10), Float64Array.of(0, 0))
  t.strictSame([calm.mean_speed, calm.vector_direction_degrees, calm.steadiness], [0, null, null])
  const pairs = vectorMean(Float64Array.of(1, 2, Number.NaN, 4), Float64Array.of(Number.NaN, -1, 5, 6))
  t.strictSame([pairs.count, pairs.mean_speed], [1, 6])
  t.throws(() => circularSummary(Float64Array.of(4), Float64Array.of(-1)), RangeError)
  t.throws(() => circularSummary(Float64Array.of(4), Float64Array.of(Number.NaN)), RangeError)
  t.throws(() => circularSummary(Float64Array.of(4), new Float64Array(2)), RangeError)
  t.throws(() => vectorMean(Float64Array.of(4), new Float64Array(2)), RangeError)
  t.throws(() => rose(Float64Array.of(4), 8, { speeds: new Float64Array(2), calmBelow: 1 }), RangeError)
})

test('a rose has one sector for north, and counts calms without a direction', async t => {
  const degrees = Float64Array.of(337.5, 0, 22.4, 22.5, 359.999, -45, 405)
  t.strictSame(rose(degrees, 8).sector_counts, [4, 2, 0, 0, 0, 0, 0, 1])
  const speeds = Float64Array.of(0.2, 3, Number.NaN, 3)
  const directions = Float64Array.of(Number.NaN, 90, 90, Number.NaN)
  const { sector_counts, ...rest } = rose(directions, 8, { speeds, calmBelow: 0.5 })
  t.strictSame(sector_counts, [0, 0, 1, 0, 0, 0, 0, 0])
  t.strictSame(rest, { count: 2, calm_count: 1, calm_share: 0.5 })
  t.equal(rose(new Float64Array(0), 8, { speeds: new Float64Array(0), calmBelow: 0.5 }).calm_share, null)
})

test('angles are normalised, including those that round up to a whole turn', async () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), degrees => {
      const angle = normaliseDegrees(degrees)
      assert.ok(angle >= 0 && angle < 360 && !Object.is(angle, -0), `${angle}`)
      assert.ok(normaliseDegrees(angle) === angle)
    }),
  )
  assert.equal(normaliseDegrees(-1e-20), 0)
  assert.equal(normaliseDegrees(-360), 0)
})
