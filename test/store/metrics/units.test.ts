/** Units: how senders write them, and their conversions, against figures from the standards and against each other. */

import fc from 'fast-check'
import { test } from 'tap'
import { conversion, signOf, unitOf, units } from '../../../store/metrics/units.ts'
import { runs } from '../../support/runs.ts'

function converted(value: number, from: string, to: string): number | string {
  const found = conversion(from, to)
  return found.ok ? found.convert(value) : found.reason
}

test('a unit is found in the spellings of senders', async t => {
  const is = (code: string, ...texts: string[]) => {
    for (const text of texts) t.equal(unitOf(text)?.code, code, text)
  }
  is('Cel', '°C', '℃', 'C', 'c', 'degC', 'deg C', 'ºC', '˚C', 'CELSIUS', ' °c ', 'Â°C', '\ufffdC')
  is('[degF]', '°F', '℉', 'F', 'f', 'degF', 'Fahrenheit', 'Â°F', '\ufffdF')
  is('hPa', 'HPA', 'hpa', '㍱')
  is("[in_i'Hg]", 'in Hg', 'in. Hg', 'INHG')
  is('[mi_i]/h', 'mph', 'MPH')
  is('km/h', 'kmh', 'kph', 'km/hr', 'KM/H')
  is('[kn_i]', 'kt', 'knots')
  is('ms', 'ms', 'MS', 'msec')
  is('ug/m3', 'µg/m3', 'μg/m³', 'µg/m³', 'ug/m^3', 'UG/M3')
  is('mW', 'mW')
  is('MW', 'MW')
  is('kW.h', 'kWh', 'KWH', 'kW·h')
  is('%', 'percent', '%RH', '% rh')
})

test('what is no unit, or may be two, is none', async t => {
  for (const text of ['', ' ', 'x', 'constructor', '__proto__', 'M', 'T', 'D', 'mw', 'MJ '.repeat(20), '\ufffdg/m3']) {
    t.equal(unitOf(text), undefined, JSON.stringify(text))
  }
})

test('values are converted as the standards say', async t => {
  const is = (value: number, from: string, to: string, wanted: number) =>
    t.equal(converted(value, from, to), wanted, `${value} ${from} in ${to}`)
  is(212, '°F', 'Cel', 100)
  is(-40, '°F', 'Cel', -40)
  is(300, 'K', 'Cel', 26.85)
  is(0, 'K', '[degF]', -459.67)
  is(29.92, 'inHg', 'hPa', 1013.20748907)
  is(760, 'mmHg', 'hPa', 1013.25014435)
  is(101_325, 'Pa', 'hPa', 1013.25)
  is(1013.25, 'mbar', 'hPa', 1013.25)
  is(100, 'mph', 'm/s', 44.704)
  is(36, 'km/h', 'm/s', 10)
  is(1, 'kn', 'm/s', 0.514444444444)
  is(1, 'in', 'mm', 25.4)
  is(1, 'ft', 'm', 0.3048)
  is(0.5, 'in/h', 'mm/h', 12.7)
  is(0.35, 'm3/m3', '%', 35)
  is(1500, 'ppb', 'ppm', 1.5)
  is(3600, 'kJ', 'kW.h', 1)
  is(0.000_25, 'g/m3', 'ug/m3', 250)
  is(1e-7, 'mm', 'm', 1e-10)
})

test('a conversion is refused where the dimensions differ, with the units named', async t => {
  t.equal(converted(1, 'kPa', 'Cel'), 'the unit "kPa" cannot be converted to °C')
  t.equal(converted(1, 'm/s', 'deg'), 'the unit "m/s" cannot be converted to °')
  t.equal(converted(1, 'furlong', 'm'), 'the unit "furlong" is not known')
  t.equal(converted(1, 'ppm', '%'), 'the unit "ppm" cannot be converted to %')
  t.equal(signOf("[in_i'Hg]"), 'inHg')
  t.equal(signOf('[car_m]'), '[car_m]')
})

test('every code, sign and alias means its unit, and codes are unique', async t => {
  t.equal(new Set(units.map(({ code }) => code)).size, units.length)
  for (const unit of units) {
    for (const text of [unit.code, unit.sign, ...unit.aliases]) t.equal(unitOf(text), unit, `${text} is ${unit.code}`)
  }
  const bases = new Set(units.filter(({ factor, zero = 0 }) => factor === 1 && zero === 0).map(unit => unit.dimension))
  for (const { dimension } of units) t.ok(bases.has(dimension), `${dimension} has a base`)
})

test('a value comes back from every unit of its dimension', async () => {
  const partners = units.map(from => [from, units.filter(to => to.dimension === from.dimension)] as const)
  const pair = fc.constantFrom(...partners.flatMap(([from, all]) => all.map(to => [from, to] as const)))
  const property = fc.property(pair, fc.double({ min: -1e9, max: 1e9, noNaN: true }), ([from, to], value) => {
    const there = converted(value, from.code, to.code)
    const back = typeof there === 'number' ? converted(there, to.code, from.code) : Number.NaN
    if (typeof back !== 'number') return false
    // 12 digits of the larger of the numbers on the way.
    const absolute = from.dimension === 'temperature' ? 459.67 : 0
    const size = Math.max(Math.abs(value), Math.abs(from.zero ?? 0), absolute)
    return Math.abs(back - value) <= 1.1e-11 * size + Number.MIN_VALUE * 1e20
  })
  fc.assert(property, runs(3000, 20_000))
})
