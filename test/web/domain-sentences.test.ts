/** Figures by what a device is for, in sentences. */

import t from 'tap'
import { coldChainFigures } from '../../analytics/domain/cold-chain.ts'
import { bandFigure } from '../../analytics/domain/figures.ts'
import { reasonTexts } from '../../analytics/reasons.ts'
import type { DomainFigures } from '../../query/shapes/domain.ts'
import { domainSentences } from '../../web/pages/device/domain-sentences.ts'
import { builtInQuantities } from '../../web/text/quantities.ts'

const hourMs = 3_600_000

const none: DomainFigures = {
  device: 'one',
  time_zone: 'UTC',
  generated_at: '2026-03-10 12:00',
  profile: 'none',
  start: '2026-03-09 12:00',
  end: '2026-03-10 12:00',
  weather: null,
  indoor: null,
  cold_chain: null,
  greenhouse: null,
}

function told(parts: Partial<DomainFigures>): string[] {
  return domainSentences({ ...none, ...parts }, builtInQuantities).map(([name, sentence]) =>
    `${name}: ${sentence}`.replaceAll('\u202f', ' '),
  )
}

t.test('each figure has a sentence, or says why there is none', async t => {
  const spread = { reason: null, unit: 'hPa', observed_hours: 24, mean: 1012.48, min: 1001, max: 1025 }
  const hours = { reason: null, observed_hours: 24, hours: 3 }
  const degree_days = { reason: null, days: 1, heating_15_5: 51.1, heating_20_15: 78, cooling_22: 0 }
  const weather = { sea_level_pressure: spread, frost: hours, dew: { ...hours, hours: 0 }, degree_days }
  t.strictSame(told({ weather: { total: weather, days: [] } }), [
    'Pressure at sea level: It was 1012.5 hPa on average, 1001.0 hPa to 1025.0 hPa.',
    'Frost: It was below 0.0 °C in 3 of 24 hours.',
    'Dew: The air was almost at its dew point in none of 24 hours.',
    'Degree days: In 1 day: heating 51 K·d below 15.5 °C and 78 K·d by VDI 3807, cooling 0 K·d above 22.0 °C.',
  ])
  const values = Float64Array.of(19, 21, 27, 21)
  const temperature = bandFigure({ values }, { unit: '°C', below: 20, above: 26 })
  const humidity = bandFigure({ values: new Float64Array(0) }, { unit: '%', below: 25, above: 60 })
  const mould = { reason: reasonTexts.noHours, observed_hours: 0, hours: null, measured_outdoor_hours: 0 }
  t.strictSame(told({ indoor: { total: { temperature, humidity, mould }, days: [] } }), [
    'Temperature: It was below 20.0 °C in 1 and above 26.0 °C in 1 of 4 hours.',
    'Humidity: There is no hour with all of the values that it needs.',
    'Mould: There is no hour with all of the values that it needs.',
  ])
  const samples = { timesMs: Float64Array.of(0, hourMs / 2), values: Float64Array.of(9, 5) }
  const range = { startMs: 0, endMs: hourMs, isHourly: false }
  const { total } = coldChainFigures({ samples, gaps: [], ...range }, [])
  t.strictSame(told({ cold_chain: { total, days: [] } }), [
    'Temperature: It was below 2.0 °C in none and above 8.0 °C in 30 minutes of 1 hour.',
    'Mean kinetic temperature: It was 7.2 °C.',
    'Doors: It needs readings at least every 10 minutes.',
    'Defrosts: It needs readings at least every 10 minutes.',
  ])
  const short = { ...total, temperature: { ...total.temperature, observed_hours: 0.4, hours_above: 0.35 } }
  t.equal(
    told({ cold_chain: { total: short, days: [] } })[0],
    'Temperature: It was below 2.0 °C in none and above 8.0 °C in 21 minutes of 24 minutes.',
    'less than an hour is told in minutes',
  )
  const frozen = coldChainFigures(
    { samples: { ...samples, values: Float64Array.of(-18, -19) }, gaps: [], ...range },
    [],
  )
  t.equal(
    told({ cold_chain: { total: frozen.total, days: [] } })[0],
    'Temperature: It was below 2.0 °C in 1 and above 8.0 °C in none of 1 hour. These are the limits of a refrigerator; it is hardly ever within them, so no excursion is told.',
  )
  const defrosted = {
    ...total,
    door_openings: { reason: null, count: 1 },
    defrosts: { reason: null, count: 21, period_hours: 8.001 },
  }
  t.strictSame(told({ cold_chain: { total: defrosted, days: [] } }).slice(2), [
    'Doors: The temperature rose once, as it does when a door is open.',
    'Defrosts: There were 21 defrosts, one every 8 hours.',
  ])
  const vapour_pressure_deficit = { ...temperature, unit: 'kPa', below: 0.4, above: 1.6, mean: 0.587 }
  t.strictSame(told({ greenhouse: { total: { vapour_pressure_deficit, leaf_dew: hours }, days: [] } }), [
    'Vapour-pressure deficit: It was 0.59 kPa on average. It was below 0.40 kPa in 1 and above 1.60 kPa in 1 of 4 hours.',
    'Dew on leaves: Leaves were at their dew point in 3 of 24 hours.',
  ])
  t.strictSame(told({}), [])
})
