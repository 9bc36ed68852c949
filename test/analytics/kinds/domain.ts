/** Figures of profiles against their formulas in numpy, and at their edges. Fixture: fixtures/domain.py. */

import { test } from 'tap'
import {
  greenhouseFigures,
  indoorFigures,
  vapourPressureDeficit,
  weatherFigures,
} from '../../../analytics/domain/air-profiles.ts'
import { type ColdChainInput, coldChainFigures, meanKineticTemperature } from '../../../analytics/domain/cold-chain.ts'
import { type AirHours, type BandFigure, bandFigure, type CellRange } from '../../../analytics/domain/figures.ts'
import { reasons } from '../../../analytics/reasons.ts'
import { dewPoint } from '../../../analytics/summary/derived.ts'
import { deviation, floats, readFixture } from '../fixture.ts'
import { hourMs, minuteMs, uniform } from '../series.ts'

const fixture = readFixture('domain')
const hours: AirHours = {
  temperature: floats(fixture.temperature),
  humidity: floats(fixture.humidity),
  pressure: floats(fixture.pressure),
  outdoorTemperature: floats(fixture.outdoors),
}
const days: CellRange[] = Array.from({ length: 12 }, (_, day) => ({ from: 24 * day, to: 24 * (day + 1) }))
const missing = new Float64Array(24).fill(Number.NaN)
const empty: AirHours = { temperature: missing, humidity: missing, pressure: missing, outdoorTemperature: missing }

/** The largest deviation of a figure's numbers from the fixture. */
const farFrom = (name: string, figures: readonly (number | null)[]) =>
  Math.max(...figures.map((figure, place) => deviation(figure, fixture[name][place] ?? null)))

const bandOf = (band: BandFigure) =>
  (['observed_hours', 'mean', 'min', 'max', 'hours_below', 'hours_above'] as const).map(name => band[name])

test('weather figures match the formulas', async t => {
  const { sea_level_pressure: sea, frost, dew, degree_days } = weatherFigures(hours, days, fixture.altitude)
  t.ok(farFrom('sea', [sea.observed_hours, sea.mean, sea.min, sea.max]) < 1e-12)
  t.equal(farFrom('frost', [frost.observed_hours, frost.hours]), 0)
  t.equal(farFrom('dew', [dew.observed_hours, dew.hours]), 0)
  const { heating_15_5, heating_20_15, cooling_22 } = degree_days
  t.ok(farFrom('degreeDays', [degree_days.days, heating_15_5, heating_20_15, cooling_22]) < 1e-12)
})

test('indoor and greenhouse figures match the formulas', async t => {
  const { temperature, humidity, mould } = indoorFigures(hours)
  t.ok(farFrom('comfort', bandOf(temperature)) < 1e-12)
  t.ok(farFrom('comfortHumidity', bandOf(humidity)) < 1e-12)
  t.equal(farFrom('mould', [mould.observed_hours, mould.hours, mould.measured_outdoor_hours]), 0)
  const { vapour_pressure_deficit, leaf_dew } = greenhouseFigures(hours)
  t.ok(farFrom('deficit', bandOf(vapour_pressure_deficit)) < 1e-12)
  t.equal(farFrom('leafDew', [leaf_dew.observed_hours, leaf_dew.hours]), 0)
})

test("the vapour pressure matches ASHRAE's equations", async t => {
  for (const [temperature, humidity, deficit, dew] of fixture.ashrae) {
    t.ok(deviation(vapourPressureDeficit(temperature, humidity), deficit) < 0.005, `${temperature} °C, ${humidity} %`)
    // Their figure below 0 °C is over ice.
    if (dew > 0) t.ok(Math.abs(dewPoint(temperature, humidity) - dew) < 0.1, `${temperature} °C, ${humidity} %`)
  }
})

test('without values all figures are null, with a reason', async t => {
  const { noHours, noAltitude, fewWholeDays } = reasons
  const reasonsOf = (figures: object) => Object.values(figures).map(({ reason }) => reason)
  t.strictSame(reasonsOf(weatherFigures(empty, [{ from: 0, to: 24 }], 540)), [noHours, noHours, noHours, fewWholeDays])
  t.equal(weatherFigures(hours, days, null).sea_level_pressure.reason, noAltitude)
  const dry = indoorFigures({ ...hours, humidity: missing, temperature: hours.temperature.subarray(0, 24) })
  t.strictSame(reasonsOf(dry), [null, noHours, noHours])
  t.match(dry.mould, { observed_hours: 0, hours: null, measured_outdoor_hours: 0 })
  t.strictSame(reasonsOf(greenhouseFigures(empty)), [noHours, noHours])
  const short = weatherFigures({ ...hours, temperature: hours.temperature.subarray(0, 17) }, [{ from: 0, to: 17 }], 0)
  t.match(short.degree_days, { reason: fewWholeDays, days: 0, cooling_22: null })
})

test('mean kinetic temperature and band weigh values by unequal durations', async t => {
  const held = { values: Float64Array.from(fixture.cold), hours: Float64Array.from(fixture.held) }
  t.ok(deviation(meanKineticTemperature(held), fixture.mkt) < 1e-9)
  const band = bandFigure(held, { unit: '°C', below: 2, above: 8 })
  t.ok(farFrom('coldBand', [band.observed_hours, band.mean, band.hours_below, band.hours_above]) < 1e-9)
  t.ok(Math.abs(meanKineticTemperature({ values: Float64Array.of(5, 5, 5) }) - 5) < 1e-9)
  t.ok(meanKineticTemperature({ values: Float64Array.of(0, 10) }) > 5, 'warm hours count for more')
  t.ok(Number.isNaN(meanKineticTemperature({ values: Float64Array.of(Number.NaN, -300) })))
})

interface Cooler {
  readonly days: number
  readonly defrostHours?: number
  /** Hours of the day with an open door. */
  readonly doors?: readonly number[]
  readonly stepMs?: number
}

/** A refrigerator at 5 °C whose compressor runs every 40 minutes. A door adds 2 K for 10 minutes, a defrost 6 K for 30. */
function cooler({ days: length, defrostHours, doors = [], stepMs = 2 * minuteMs }: Cooler): ColdChainInput {
  const timesMs = Float64Array.from({ length: (length * 24 * hourMs) / stepMs }, (_, step) => step * stepMs)
  const bump = (sinceMs: number, forMs: number, kelvin: number) =>
    sinceMs < 0 || sinceMs > 2 * forMs ? 0 : kelvin * (1 - Math.abs(sinceMs - forMs) / forMs)
  const values = timesMs.map(timeMs => {
    const dayMs = timeMs % (24 * hourMs)
    const door = doors.reduce((sum, hour) => sum + bump(dayMs - hour * hourMs, 5 * minuteMs, 2), 0)
    const sinceMs = defrostHours === undefined ? -1 : (timeMs + hourMs) % (defrostHours * hourMs)
    const compressor = 0.3 * Math.sin((2 * Math.PI * timeMs) / (40 * minuteMs))
    return 5 + compressor + door + bump(sinceMs, 15 * minuteMs, 6)
  })
  const samples = { timesMs, values }
  return { samples, gaps: [], startMs: 0, endMs: length * 24 * hourMs, isHourly: false }
}

const totalOf = (input: ColdChainInput) => coldChainFigures(input, []).total

test('doors and defrosts are distinguished', async t => {
  const none = totalOf(cooler({ days: 7 }))
  t.match(none, { door_openings: { count: 0 }, defrosts: { reason: reasons.noPeriod, count: null } })
  const doors = [8.1, 9.7, 12.3, 13.1, 16.9]
  const shop = totalOf(cooler({ days: 7, doors }))
  t.equal(shop.door_openings.count, 35)
  for (const defrostHours of [6, 8, 12]) {
    const { door_openings, defrosts } = totalOf(cooler({ days: 7, defrostHours }))
    t.match([door_openings.count, defrosts.count], [0, (7 * 24) / defrostHours], `every ${defrostHours} hours`)
    t.ok(Math.abs((defrosts.period_hours as number) - defrostHours) < 0.05, `${defrosts.period_hours}`)
    const both = totalOf(cooler({ days: 7, defrostHours, doors: [8.4, 10.2, 13.4] }))
    t.match([both.door_openings.count, both.defrosts.count], [21, (7 * 24) / defrostHours])
  }
})

test('doors at similar hours of the days are not defrosts', async t => {
  const input = cooler({ days: 14 })
  const { timesMs } = input.samples
  const random = uniform(7)
  const doorsMs = Array.from(
    { length: 14 * 12 },
    (_, door) => (Math.floor(door / 12) * 24 + 8 + 10 * random()) * hourMs,
  )
  const values = input.samples.values.map((value, at) => {
    const agoMs = doorsMs.map(doorMs => (timesMs[at] as number) - doorMs)
    return value + 3 * agoMs.filter(ms => ms >= 0 && ms < 10 * minuteMs).length
  })
  t.match(totalOf({ ...input, samples: { timesMs, values } }).defrosts, { reason: reasons.noPeriod, count: null })
})

test('cold chain: unknown figures have a reason', async t => {
  const { sparseReadings, longRange, noValue, shortSpan } = reasons
  const sparse = totalOf(cooler({ days: 4, stepMs: 15 * minuteMs }))
  t.match(sparse.temperature, { reason: null, hours_above: 0 })
  t.match(sparse.door_openings, { reason: sparseReadings, count: null })
  t.match(totalOf({ ...cooler({ days: 4 }), isHourly: true }).defrosts, { reason: longRange, period_hours: null })
  t.match(totalOf(cooler({ days: 2 })), { door_openings: { reason: null }, defrosts: { reason: shortSpan } })
  const nothing = { timesMs: new Float64Array(0), values: new Float64Array(0) }
  t.match(totalOf({ ...cooler({ days: 4 }), samples: nothing }), {
    temperature: { reason: noValue, mean: null },
    mean_kinetic_temperature: { reason: noValue, value: null },
    door_openings: { reason: noValue },
  })
})

test('cold chain: a value lasts an hour at most while the interval is unknown', async t => {
  const timesMs = Float64Array.of(0, 3 * hourMs, 3.5 * hourMs)
  const samples = { timesMs, values: Float64Array.of(10, 5, 1) }
  const between = (fromHour: number, toHour: number) => ({ startMs: fromHour * hourMs, endMs: toHour * hourMs })
  const range = between(0.5, 6)
  const days = [between(0.5, 3.75), between(3.75, 6)]
  const { total, days: parts } = coldChainFigures({ samples, gaps: [], ...range, isHourly: false }, days)
  t.match(total.temperature, { observed_hours: 2, hours_above: 0.5, hours_below: 1, min: 1, max: 10 })
  t.match(parts[0]?.temperature, { observed_hours: 1.25, hours_above: 0.5, hours_below: 0.25 })
  t.match(parts[1]?.temperature, { observed_hours: 0.75, hours_above: 0, hours_below: 0.75 })
})
