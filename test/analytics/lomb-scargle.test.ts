/** Lomb–Scargle power and its false-alarm probability against astropy. Fixture: fixtures/seasonal-peaks.py. */

import { test } from 'tap'
import { detrend } from '../../analytics/decomposition/detrend.ts'
import { falseAlarmProbability, observedTimes } from '../../analytics/spectrum/false-alarm.ts'
import { fitSinusoid, fitSinusoidAtTimes, observedSeries } from '../../analytics/spectrum/lomb-scargle.ts'
import { refineFrequency } from '../../analytics/spectrum/refine-frequency.ts'
import { gridSampling } from '../../analytics/spectrum/sampling.ts'
import { deviation, floats, readFixture } from './fixture.ts'
import { autoregressive, found } from './series.ts'

interface Peak {
  frequency: number
  power: number
  amplitude: number
  sine: number
  cosine: number
  falseAlarm: number
}

interface Case {
  name: string
  values: (number | null)[]
  frequencies: number[]
  powers: number[]
  peaks: Peak[]
}

const reference = readFixture<{
  series: Case[]
  irregular: { timesMs: number[]; values: number[]; frequencies: number[]; powers: number[] }
  falseAlarm: { z: number; n: number; variance: number; span: number; p: number }[]
}>('seasonal-peaks')

test('z is astropy’s at any frequency, with gaps and without', async t => {
  for (const { name, values, frequencies, powers } of reference.series) {
    const series = observedSeries(detrend(floats(values)).residual)
    for (const [place, frequency] of frequencies.entries()) {
      const distance = Math.abs(fitSinusoid(series, frequency).power - (powers[place] as number))
      t.ok(distance < 1e-8, `${name} at ${frequency}: off by ${distance}`)
    }
  }
})

test('z of single moments is astropy’s', async t => {
  const { timesMs, values, frequencies, powers } = reference.irregular
  for (const [place, frequency] of frequencies.entries()) {
    const { power } = fitSinusoidAtTimes(floats(timesMs), observedSeries(floats(values)), frequency / 1000)
    t.ok(Math.abs(power - (powers[place] as number)) < 1e-8, `${frequency} Hz`)
  }
})

test('the refined frequency is where astropy’s z is largest, with its amplitude and phase', async t => {
  for (const { name, values, peaks } of reference.series) {
    const series = observedSeries(detrend(floats(values)).residual)
    const refine = (start: number) =>
      refineFrequency(frequency => fitSinusoid(series, frequency), 1 / values.length, start)
    for (const peak of peaks) {
      // From the next bin of a plain transform, half a bin away.
      const start = peak.frequency + 0.3 / values.length
      const refined = found(refine(start))
      t.ok(deviation(refined.frequency, peak.frequency) < 1e-5, `${name}: ${1 / refined.frequency}`)
      t.ok(Math.abs(refined.power - peak.power) < 1e-8, `${name}: z ${refined.power}`)
      const exact = fitSinusoid(series, peak.frequency)
      t.ok(deviation(Math.hypot(exact.sine, exact.cosine), peak.amplitude) < 1e-6, `${name}: amplitude`)
      t.ok(deviation(exact.sine, peak.sine) < 1e-6 && deviation(exact.cosine, peak.cosine) < 1e-6, `${name}: phase`)
    }
  }
})

test('a frequency without a maximum in its main lobe is not refined', async t => {
  const values = Float64Array.from({ length: 720 }, (_, i) => Math.sin((2 * Math.PI * i) / 24))
  const refine = (cells: Float64Array, start: number) => {
    return refineFrequency(gridSampling(cells.length).fitter(cells), 1 / cells.length, start)
  }
  const falling = (frequency: number) => ({ frequency, power: 1 / frequency, cosine: 0, sine: 0, offset: 0 })
  t.equal(refineFrequency(falling, 1 / 720, 30 / 720), undefined, 'the power only falls')
  t.ok(refine(values, 30.7 / 720), 'within its main lobe')
  t.equal(refine(new Float64Array(50), 0.1), undefined, 'nothing varies')
})

test('the false-alarm probability is astropy’s by Baluev', async t => {
  for (const { z, n, variance, span, p } of reference.falseAlarm) {
    const mine = falseAlarmProbability(z, { observed: n, variance, span }, 0.5)
    const isZero = p < 1e-300 && mine < 1e-300
    t.ok(isZero || Math.abs(mine - p) < 1e-6 * p + 1e-300, `z ${z}, n ${n}: ${mine}, ${p}`)
  }
  for (const { name, values, peaks } of reference.series) {
    const times = observedTimes(floats(values))
    for (const { power, falseAlarm } of peaks) {
      const mine = falseAlarmProbability(power, times, 0.5)
      t.ok(Math.abs(mine - falseAlarm) < 1e-6 * falseAlarm + 1e-300, `${name}: ${mine}, ${falseAlarm}`)
    }
  }
})

test('the false-alarm probability does not underflow, goes from 1 to 0, and needs five values', async t => {
  const of = (z: number, observed = 1000) => falseAlarmProbability(z, { observed, variance: 1e5, span: 1000 }, 0.5)
  t.ok(of(0.5) > 0 && of(0.5) < 1e-140)
  t.equal(of(0), 1)
  t.equal(of(1), 0)
  t.ok(Number.isNaN(of(0.5, 4)))
})

test('frequencies at which sine and cosine are one have no power', async t => {
  const series = observedSeries(autoregressive(100, 0, 1))
  t.equal(fitSinusoid(series, 0).power, 0)
  t.equal(fitSinusoid(series, 0.5).power, 0)
})
