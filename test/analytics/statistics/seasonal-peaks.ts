/** The search for cycles against numpy and astropy, the golden G1, and noise without cycles. Fixture: fixtures/seasonal-peaks.py. */

import { test } from 'tap'
import { detrend } from '../../../analytics/decomposition/detrend.ts'
import { Background } from '../../../analytics/spectrum/background.ts'
import { refineJointly } from '../../../analytics/spectrum/cycle-finder.ts'
import { cellMiddleMs, harmonicsOf, timesADay } from '../../../analytics/spectrum/harmonics.ts'
import { gridSampling, type Sampling, timesSampling } from '../../../analytics/spectrum/lomb-scargle.ts'
import { createPeriodogram, hannWindow } from '../../../analytics/spectrum/periodogram.ts'
import { createPeakSearch, hasRecurringHole, type SeasonalPeak } from '../../../analytics/spectrum/seasonal-peaks.ts'
import { isSignificant } from '../../../analytics/spectrum/significance.ts'
import { deviation, floats, readFixture } from '../fixture.ts'
import { autoregressive, found, goldenDaily, uniform, withLoss } from '../series.ts'

const { series: cases, irregular, close } = readFixture('seasonal-peaks')

function peaksOf(values: Float64Array): SeasonalPeak[] {
  return createPeakSearch(values.length)(detrend(values).residual).peaks
}

function cycle(length: number, period: number): Float64Array {
  return Float64Array.from({ length }, (_, i) => Math.cos((2 * Math.PI * i) / period))
}

function sum(...series: Float64Array[]): Float64Array {
  return found(series[0]).map((_, i) => series.reduce((total, values) => total + (values[i] as number), 0))
}

function significantPeriods(values: Float64Array): number[] {
  return peaksOf(values)
    .filter(peak => peak.significant)
    .map(peak => 1 / peak.frequency)
}

test('the slope matches numpy’s line', async t => {
  for (const { name, values, slope } of cases) {
    const relative = deviation(detrend(floats(values)).slopePerCell, slope)
    t.ok(relative < 1e-9, `${name}: off by ${relative}`)
  }
  t.ok(Number.isNaN(detrend(Float64Array.of(1, Number.NaN)).slopePerCell), 'one value has no slope')
})

test('the hole left by a subtracted cycle is not background', async t => {
  const spectrum = createPeriodogram(hannWindow(720))(autoregressive(720, 0, 1))
  const background = new Background(spectrum.size, spectrum.cells)
  background.take(spectrum, [])
  const before = background.at(40)
  const holes = [20, 32, 60, 75].map(bin => bin / spectrum.size)
  for (const frequency of holes) {
    const bin = frequency * spectrum.size
    spectrum.power.fill(1e-9, bin - 4, bin + 5)
  }
  background.take(spectrum, [])
  t.ok(background.at(40) < before / 10, 'they would pull the line down')
  background.take(spectrum, holes)
  t.ok(Math.abs(Math.log(background.at(40) / before)) < 0.8, `${background.at(40)} is about ${before}`)
})

test('the prominence of the strongest cycle matches numpy', async t => {
  for (const { name, values, peaks } of cases) {
    const [expected] = peaks
    const peak = found(peaksOf(floats(values))[0])
    t.ok(peak.significant, `${name}: ${peak.snr}`)
    t.ok(deviation(peak.snr, expected.binPower / expected.background) < 0.01, `${name}: ratio ${peak.snr}`)
  }
})

test('all cycles match the periods of scipy’s least squares, with astropy’s power and amplitude', async t => {
  for (const { name, values, joint } of cases) {
    const got = peaksOf(floats(values))
    // A peak of noise beside the cycles is part of the least squares.
    const isSame = got.length === joint.length
    for (const expected of joint) {
      const peak = found(got.find(one => deviation(one.frequency, expected.frequency) < 1e-3))
      t.ok(peak.significant, name)
      t.ok(deviation(peak.frequency, expected.frequency) < 1e-5, `${name}: period ${1 / peak.frequency}`)
      t.ok(Math.abs(peak.power - expected.power) < (isSame ? 1e-8 : 1e-6), `${name}: power`)
      t.ok(deviation(peak.amplitude, expected.amplitude) < (isSame ? 1e-6 : 1e-5), `${name}: amplitude`)
    }
  }
})

test('cycles of irregular readings are refined jointly as well', async t => {
  const { timesMs, shaped, joint } = irregular
  const seconds = Float64Array.from(timesMs, (timeMs: number) => (timeMs - timesMs[0]) / 1000)
  const mean = floats(shaped).reduce((total, value) => total + value, 0) / shaped.length
  const values = floats(shaped).map(value => value - mean)
  const sampling = timesSampling(seconds)
  const refined = refineJointly(values, [1 / 88_000, 1 / 43_600, 1 / 33_200], sampling)
  for (const [place, { frequency, power }] of [...joint].entries()) {
    const got = found(refined[place])
    t.ok(deviation(got, frequency) < 1e-5, `${1 / got} s, ${1 / frequency}`)
    t.ok(Math.abs(sampling.fitter(values)(frequency).power - power) < 1e-8)
  }
})

test('adjacent cycles, with a gap of ten days, are as near to the least squares', async t => {
  const values = floats(close.values)
  const refined = refineJointly(values, [1 / 24, 1 / 168, 1 / 110], gridSampling(values.length))
  for (const [place, { frequency }] of [...close.joint].entries()) {
    t.ok(deviation(found(refined[place]), frequency) < 1e-6, `${1 / found(refined[place])}, ${1 / frequency}`)
  }
})

test('an hour missing every day is a hole, random losses are not', async t => {
  const of = (isMissing: (cell: number) => boolean, cells = 2880, perDay = 96) => {
    const values = new Float64Array(cells).map((_, cell) => (isMissing(cell) ? Number.NaN : 1))
    return hasRecurringHole(values, perDay)
  }
  const isHour = (cell: number) => cell % 96 < 4
  t.ok(of(isHour))
  const [few, row] = [of(cell => isHour(cell) && cell < 700), of(cell => cell > 900 && cell < 1500)]
  t.notOk(few || row, 'neither on seven days of thirty, nor six days in a row')
  t.notOk(of(isHour, 280), 'less than three days')
  const next = uniform(1)
  t.notOk(of(() => next() < 0.4))
})

test('small cycles count at 24/k h, k up to 4, and nowhere else', async t => {
  const of = (cycles: number, days: number | undefined, snr = 30) =>
    isSignificant({ snr, amplitude: 0.4, cycles, power: 0.005 }, { steps: { quantum: 1, passed: 0 }, days })
  t.ok([30, 60.9, 89.1, 120].every(cycles => of(cycles, 30)))
  t.notOk([28.9, 61.1, 150, 4].some(cycles => of(cycles, 30)))
  t.notOk(of(60, undefined), 'without a day')
  t.notOk(of(60, 30, 19.9), 'in the background')
})

test('a frequency without a maximum in its main lobe is not a cycle', async t => {
  const falling: Sampling = {
    resolution: 1 / 720,
    fitter: () => frequency => ({ frequency, power: 1 / frequency, cosine: 0, sine: 0, offset: 0 }),
    without: values => values,
  }
  t.strictSame(refineJointly(new Float64Array(720), [30 / 720], falling), [undefined])
})

test('a cycle below half a step of the sensor is not significant', async t => {
  const { residual } = detrend(cycle(720, 24))
  const peak = (quantum: number) => found(createPeakSearch(720)(residual, { quantum, passed: 0 }).peaks[0])
  t.strictSame([peak(0), peak(1.9), peak(2.1)].map(one => one.significant).join(), 'true,true,false')
  t.equal(found(createPeakSearch(720)(residual).peaks[0]).snr, 1e6)
})

test('cycles are separated, and harmonics kept', async t => {
  const noise = (length: number) => autoregressive(length, 0, 7).map(value => value / 2)
  const gives = (values: Float64Array, ...expected: number[]) => {
    const periods = significantPeriods(values).sort((a, b) => b - a)
    const isNear = periods.every((period, place) => Math.abs(period / (expected[place] ?? 0) - 1) < 5e-3)
    t.ok(isNear && periods.length === expected.length, `${periods} are ${expected}`)
  }
  const times = (factor: number, values: Float64Array) => values.map(value => factor * value)
  const dayAndWeek = sum(times(3, cycle(1344, 24)), times(2, cycle(1344, 168)))
  gives(dayAndWeek, 168, 24)
  gives(sum(noise(1344), dayAndWeek), 168, 24)
  gives(withLoss(sum(noise(1344), dayAndWeek), 0.4, 1), 168, 24)
  const rectangle = cycle(2880, 96).map(value => Math.sign(value + 1e-9))
  gives(rectangle, 96, 32, 96 / 5, 96 / 7, 96 / 9)
  const holed = goldenDaily().map((value, i) => (i > 3000 && i < 5880 ? Number.NaN : value))
  gives(holed, 288)
  const pulses = Float64Array.from({ length: 8640 }, (_, i) => Number(i % 4 < 1))
  gives(sum(cycle(8640, 288), noise(8640), pulses), 288, 4)
})

test('a harmonic names the strongest longer cycle of at most 30 h that it divides', async t => {
  const of = (...cycles: [number, number][]) =>
    harmonicsOf(cycles.map(([periodHours, power]) => ({ periodHours, power })))
  t.strictSame(of([24, 0.5], [12.05, 0.2], [8, 0.1], [5, 0.1]), [null, 24, 24, null])
  t.strictSame(of([168, 0.9], [24, 0.5], [12, 0.1]), [null, null, 24], 'a week has none')
  t.strictSame(of([24, 0.1], [12, 0.5], [6, 0.1]), [null, 24, 12])
  t.strictSame(of([24, 0.5], [11.7, 0.2]), [null, null])
})

test('cycles with a whole number of periods a day have a phase', async t => {
  const times = [24, 12, 8, 24.3, 23.6, 24.6, 168, 2000].map(timesADay)
  t.strictSame(times, [1, 2, 3, 1, 1, null, null, null])
  t.equal(cellMiddleMs(2, { startMs: 1000, stepMs: 100 }), 1250)
})

test('a picture has at most 256 points, from the span to two cells, and includes the peaks', async t => {
  const day = cycle(8640, 288).map(value => 5 * value)
  const values = sum(autoregressive(8640, 0, 1), day, cycle(8640, 4))
  const { picture } = createPeakSearch(8640)(values)
  const { periods, powerDecibels, backgroundDecibels } = picture
  t.ok(periods.length <= 256 && periods.length > 150)
  t.strictSame([powerDecibels.length, backgroundDecibels.length], [periods.length, periods.length])
  t.ok(periods.every((period, i) => i === 0 || period < (periods[i - 1] as number)))
  t.ok(found(periods[0]) <= 8640 && found(periods[0]) > 4320 && found(periods.at(-1)) < 2.1)
  const top = powerDecibels.indexOf(0)
  t.ok(Math.abs(found(periods[top]) / 288 - 1) < 0.02)
  const short = periods.findIndex(period => Math.abs(period / 4 - 1) < 1e-3)
  t.ok(found(powerDecibels[short]) > found(backgroundDecibels[short]) + 20, 'a sharp peak between many bins')
  const noise = powerDecibels.filter((power, i) => power > found(backgroundDecibels[i]) + 13).length
  t.ok(noise < 15, `${noise} points stand out`)
  t.strictSame(createPeakSearch(100)(new Float64Array(100)).picture.periods, [], 'no power, no picture')
})

test('short and empty series have no cycles', async t => {
  t.strictSame(createPeakSearch(5)(Float64Array.of(1, -1, 1, -1, 0)).peaks, [])
  t.strictSame(createPeakSearch(0)(new Float64Array(0)).peaks, [])
  const next = uniform(3)
  t.ok(peaksOf(Float64Array.from({ length: 72 }, next)).every(peak => Number.isFinite(peak.snr)))
})
