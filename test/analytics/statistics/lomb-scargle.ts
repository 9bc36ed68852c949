/** The false-alarm probability against astropy, and frequencies without a peak. Fixture: fixtures/seasonal-peaks.py. */

import { test } from 'tap'
import { refineFrequency } from '../../../analytics/spectrum/cycle-finder.ts'
import { fitSinusoid, gridSampling, observedSeries } from '../../../analytics/spectrum/lomb-scargle.ts'
import { falseAlarmProbability, observedTimes } from '../../../analytics/spectrum/significance.ts'
import { floats, readFixture } from '../fixture.ts'
import { autoregressive } from '../series.ts'

const reference = readFixture('seasonal-peaks')

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

test('the false-alarm probability matches astropy’s by Baluev', async t => {
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

test('the false-alarm probability does not underflow, falls from 1 to 0, and needs five values', async t => {
  const of = (z: number, observed = 1000) => falseAlarmProbability(z, { observed, variance: 1e5, span: 1000 }, 0.5)
  t.ok(of(0.5) > 0 && of(0.5) < 1e-140)
  t.equal(of(0), 1)
  t.equal(of(1), 0)
  t.ok(Number.isNaN(of(0.5, 4)))
})

test('frequencies with collinear sine and cosine have no power', async t => {
  const series = observedSeries(autoregressive(100, 0, 1))
  t.equal(fitSinusoid(series, 0).power, 0)
  t.equal(fitSinusoid(series, 0.5).power, 0)
})
