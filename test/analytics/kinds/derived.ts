/** Derived quantities against their formulas in numpy. Fixture: fixtures/derived.py. */

import { test } from 'tap'
import { absoluteHumidity, dewPoint, dewPoints, seaLevelPressure } from '../../../analytics/summary/derived.ts'
import { deviation, readFixture } from '../fixture.ts'

test('derived quantities match the formulas', async t => {
  for (const [temperature, humidity, pressure, altitudeM, dew, absolute, seaLevel] of readFixture('derived')) {
    // At saturation the dew point is the temperature, which may be 0: a relative error does not exist.
    const dewError = Math.abs(dewPoint(temperature, humidity) - dew) / Math.max(1, Math.abs(dew))
    const errors = [
      dewError,
      deviation(absoluteHumidity(temperature, humidity), absolute),
      deviation(seaLevelPressure(pressure, temperature, humidity, altitudeM), seaLevel),
    ]
    if (!errors.every(error => error <= 1e-9)) t.fail(`${temperature} ${humidity} ${pressure} ${altitudeM}: ${errors}`)
  }
})

test('humidity up to 103 counts as 100 and above it has no result', async t => {
  t.ok(Math.abs(dewPoint(12, 100) - 12) < 1e-12)
  for (const derive of [
    (humidity: number) => dewPoint(12, humidity),
    (humidity: number) => absoluteHumidity(12, humidity),
    (humidity: number) => seaLevelPressure(900, 12, humidity, 800),
  ]) {
    t.equal(derive(103), derive(100))
    for (const humidity of [0, -1, 103.1, Number.NaN]) t.ok(Number.isNaN(derive(humidity)), `${humidity}`)
  }
  t.ok(Number.isNaN(dewPoint(Number.NaN, 50)))
  t.ok(Number.isNaN(seaLevelPressure(Number.NaN, 12, 50, 800)))
  const columns = dewPoints(Float64Array.of(20, Number.NaN, 20), Float64Array.of(50, 50, 0))
  t.strictSame([...columns], [dewPoint(20, 50), Number.NaN, Number.NaN])
})
