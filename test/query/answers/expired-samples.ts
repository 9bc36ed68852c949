/** Samples that stand for expired values have the same hourly figures. */

import fc from 'fast-check'
import { test } from 'tap'
import { counterIncrease } from '../../../analytics/counter/counter-increase.ts'
import { cadenceOf } from '../../../analytics/reliability/cadence.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { stateHoldMaxMs, stateHoldMs } from '../../../query/custom-metric.ts'
import { bucketFigures } from '../../../query/kinds/bucket-figures.ts'
import { customSamplesByHour, expiredSamples } from '../../../query/kinds/custom-samples.ts'
import type { KeptHours, MeasurementsSource } from '../../../query/questdb/measurements-source.ts'
import type { KindBucket, MetricKind } from '../../../query/shapes/kinds.ts'
import { dayMs, hourMs, minuteMs } from '../../analytics/series.ts'
import { keptHoursOf } from '../kept-hours.ts'

const startMs = Date.UTC(2026, 0, 1)

function keptOf(values: readonly number[]): KeptHours {
  const timesMs = Float64Array.from(values, (_, index) => startMs + index * 60_000)
  return keptHoursOf({ timesMs, values: Float64Array.from(values) })
}

const valuesOf = (value: fc.Arbitrary<number>) => fc.array(value, { minLength: 1, maxLength: 12 })
const isNear = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b))
const asserted = (values: fc.Arbitrary<number[]>, holds: (values: number[]) => boolean) =>
  fc.assert(fc.property(values, holds), { numRuns: 500 })

test('an hour has as many samples as it had values, from the first to the last of them', async t => {
  asserted(valuesOf(fc.nat(5)), values => {
    return (['counter', 'rate', 'state'] as const).every(kind => {
      const kept = keptOf(values)
      const { timesMs } = expiredSamples(kind, kept, 12)
      const isAscending = timesMs.every((timeMs, index) => index === 0 || timeMs > (timesMs[index - 1] as number))
      const ends = timesMs[0] === startMs && (timesMs.at(-1) as number) * 1000 === kept.columns.last_ts[0]
      return timesMs.length === values.length && isAscending && ends
    })
  })
  for (const kind of ['gauge', 'direction'] as const) t.equal(expiredSamples(kind, keptOf([1, 2]), 12).values.length, 0)
  t.throws(() => expiredSamples('counter', keptOf([1, 2, 3]), 2), { code: 'TOO_LARGE' })
})

test('a counter keeps its increase and its last value', async t => {
  asserted(valuesOf(fc.nat(1000)), values => {
    const kept = keptOf(values)
    const samples = expiredSamples('counter', kept, 12)
    const { increase, resets_total: resets } = counterIncrease(samples)
    const had = counterIncrease({ timesMs: samples.timesMs, values: Float64Array.from(values) })
    const ends = samples.values[0] === values[0] && isNear(samples.values.at(-1) as number, values.at(-1) as number)
    return ends && isNear(increase ?? 0, had.increase ?? 0) && resets <= had.resets_total
  })
  t.pass('of 500 hours')
})

test('a counter keeps its increase over hours, including noise at the edge of an hour', async t => {
  const increaseOf = (values: readonly number[]) => {
    const timesMs = Float64Array.from(values, (_, index) => startMs + index * 900_000)
    const samples = { timesMs, values: Float64Array.from(values) }
    const standIns = expiredSamples('counter', keptHoursOf(samples), values.length)
    const { increase, resets_total } = counterIncrease(standIns)
    const had = counterIncrease(samples)
    t.ok(isNear(increase ?? 0, had.increase ?? 0), `${values}: ${increase}, not ${had.increase}`)
    t.equal(resets_total, had.resets_total, `resets of ${values}`)
  }
  const [low, high] = [[1, 2, 3, 3.7] as const, [3.746, 3.8, 3.9, 4] as const]
  for (const noise of [0, 3.69]) {
    increaseOf([...low, noise, ...high])
    increaseOf([...low.slice(0, 3), noise, ...high])
    increaseOf([1, noise, 3.7, 3.8, ...high])
    increaseOf([3.7, noise, 3.7, noise, 3.7, noise, 3.7, noise, 3.75])
    increaseOf([...low, noise, 3.746, 3.8, 0, 3.9, 4])
    const falls = noise === 0 ? [0, 0.1] : [3.84, 3.83]
    increaseOf([...low, 3.75, 3.8, 3.85, ...falls, 3.835, 3.84, 3.85])
  }
  increaseOf([10, 11, 1, 12, 13])
  increaseOf([10, 10, 0, 0, 3, 4, 5, 6])
})

test('amounts have the sum that they had, the first one and the largest', async t => {
  asserted(valuesOf(fc.nat(1000)), values => {
    const samples = expiredSamples('rate', keptOf(values), 12).values
    const sum = samples.reduce((total, value) => total + value, 0)
    const had = values.reduce((total, value) => total + value, 0)
    return samples[0] === values[0] && isNear(sum, had) && isNear(Math.max(...samples), Math.max(...values))
  })
  t.pass('of 500 hours')
})

test('a constant state keeps all samples, a changed one its first and last value', async t => {
  t.strictSame([...expiredSamples('state', keptOf([1, 1, 1, 1]), 12).values], [1, 1, 1, 1])
  t.strictSame([...expiredSamples('state', keptOf([0, 1, 0, 2]), 12).values], [0, -1, -1, 2])
})

type Pair = readonly [timeMs: number, value: number]

/** Values of series 1, 2, …: values before a moment are kept as hours alone. */
async function byHour(kind: MetricKind, series: readonly (readonly Pair[])[], beforeMs: number, rowsMax = 1e6) {
  const samplesOf = (pairs: readonly Pair[]) => ({
    timesMs: Float64Array.from(pairs, ([timeMs]) => timeMs),
    values: Float64Array.from(pairs, ([, value]) => value),
  })
  const remaining = series.map(pairs => samplesOf(pairs.filter(([timeMs]) => timeMs >= beforeMs)))
  const expired = series.map(pairs => samplesOf(pairs.filter(([timeMs]) => timeMs < beforeMs)))
  const numbered = <Value>(values: readonly Value[]) => new Map(values.map((value, place) => [place + 1, value]))
  const measurements: Pick<MeasurementsSource, 'samples' | 'newest' | 'keptHours'> = {
    samples: async () => numbered(remaining),
    newest: async () => samplesOf([]),
    keptHours: async () => numbered(expired.map(keptHoursOf)),
  }
  const metrics = series.map((_, place) => {
    const settings = { title: '', unit: null, decimals: 0, quality: null, column: undefined, speed: undefined }
    return { ...settings, name: `metric_${place}`, kind, series: place + 1 }
  })
  const newestMs = Math.max(...series.flat().map(([timeMs]) => timeMs))
  const range = { fromUs: startMs * 1000, throughUs: newestMs * 1000, expiredBeforeUs: beforeMs * 1000 }
  const signal = new AbortController().signal
  return customSamplesByHour(metrics, range, { measurements: measurements as MeasurementsSource, signal, rowsMax })
}

async function figuresOf(kind: MetricKind, pairs: readonly Pair[], beforeMs: number, hours: number) {
  const [samples] = await byHour(kind, [pairs], beforeMs)
  if (samples === undefined) throw new Error('no samples')
  const buckets = Array.from({ length: hours }, (_, hour) => {
    return { startMs: startMs + hour * hourMs, endMs: startMs + (hour + 1) * hourMs }
  })
  const nowMs = startMs + hours * hourMs
  const context = { cadence: cadenceOf(new Float64Array(0), 10 * minuteMs), nowMs, local: createLocalTime('UTC') }
  return { samples, figures: bucketFigures(samples, buckets, context) }
}

/** Opened six times in an hour, twice a day, at intervals that differ. */
function doorOf(days: number): Pair[] {
  return Array.from({ length: days * 2 * 12 }, (_, index): Pair => {
    const [visit, step] = [Math.floor(index / 12), index % 12]
    const minutes = step * 4 + ((visit * 7 + step * step * 5) % 37) / 10
    return [startMs + visit * 12 * hourMs + minutes * minuteMs, 1 - (step % 2)]
  })
}

const secondsKnown = (figures: KindBucket[]) =>
  figures.reduce((sum, one) => sum + (one.kind === 'state' ? one.known_seconds : 0), 0)

test('a state that is sent on change holds as long, whatever has expired of it', async t => {
  const door = doorOf(30)
  const beforeMs = startMs + 23 * dayMs
  const { samples, figures } = await figuresOf('state', door, beforeMs, 30 * 24)
  t.equal(stateHoldMs(samples), stateHoldMaxMs)
  t.equal(secondsKnown(figures.slice(23 * 24)), 7 * 86_400)
})

test('expired hours show that a state is sent on change when few of its values are left', async t => {
  const holdOf = async (pairs: readonly Pair[], beforeMs: number) => {
    const [samples] = await byHour('state', [pairs], beforeMs)
    return samples && stateHoldMs(samples)
  }
  const door = doorOf(10)
  const lastMs = door.at(-1)?.[0] as number
  t.equal(await holdOf(door, lastMs - (lastMs % hourMs) + hourMs), stateHoldMaxMs, 'none is left')
  const pump = Array.from({ length: 10 * 144 }, (_, index): Pair => {
    return [startMs + index * 10 * minuteMs, Math.floor(index / 30) % 2]
  })
  t.equal(await holdOf(pump, startMs + 10 * dayMs), undefined, 'one that comes regularly')
})

test('a state that changed in an expired hour is known at both ends of the hour alone', async t => {
  const at = (seconds: number) => startMs + 600_000 + seconds * 1000
  const door: Pair[] = [
    [at(0), 1],
    [at(20), 0],
    [at(2940), 1],
    [at(3060), 0],
  ]
  const { figures } = await figuresOf('state', door, startMs + hourMs, 1)
  const [hour] = figures
  t.match(hour, { kind: 'state', states: [{ state: 1 }] })
  const seconds = secondsKnown(figures)
  t.ok(seconds > 60 && seconds < 61, `${seconds} s`)
})

test('the largest amount of an expired hour is exact, or null if the full hour at its edge hides it', async t => {
  const maxOf = async (amounts: readonly number[], beforeMs = startMs + 3 * hourMs) => {
    const pairs = amounts.map((amount, index): Pair => [startMs + index * 10 * minuteMs, amount])
    const { figures } = await figuresOf('rate', pairs, beforeMs, 3)
    return figures.map(one => (one.kind === 'rate' ? one.max : undefined))
  }
  const dry = [0, 0, 0, 0, 0, 0]
  t.strictSame(await maxOf([...dry, 5, 0, 1, 2, 0, 1, ...dry]), [5, null, 0])
  t.strictSame(await maxOf([...dry, 5, 0, 1, 2, 0, 1, ...dry], startMs), [5, 2, 0], 'none has expired')
  t.strictSame(await maxOf([...dry, 5, 0, 0, 0, 0, 0, ...dry]), [5, 0, 0], 'the others are alike')
  t.strictSame(await maxOf([...dry, 5, 0, 1, 7, 0, 1, ...dry]), [5, 7, 0], 'a later one is larger')
  t.strictSame(await maxOf([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, ...dry, ...dry]), [0.1, 0, 0])
})

test('expired values of all metrics and the others are together no more than an answer may be made of', async t => {
  const pairs = Array.from({ length: 18 }, (_, index): Pair => [startMs + index * 10 * minuteMs, index])
  const beforeMs = startMs + 2 * hourMs
  // 12 expired values of each of three, and 6 others.
  const read = (rowsMax: number) => byHour('counter', [pairs, pairs, pairs], beforeMs, rowsMax)
  const lengths = (await read(27)).map(({ values }) => values.length)
  t.strictSame(lengths, [18, 18, 18])
  await t.rejects(read(26), { code: 'TOO_LARGE' })
})
