/** Sentences about figures: each status and reason has one, with numbers in their usual form. */

import t from 'tap'
import { coldChainFigures } from '../../../analytics/domain/cold-chain.ts'
import { bandFigure } from '../../../analytics/domain/figures.ts'
import { decimalText, inOneUnit } from '../../../analytics/findings/value-words.ts'
import { pairReasons, reasons } from '../../../analytics/reasons.ts'
import type { Anomaly } from '../../../query/shapes/anomalies.ts'
import type { DomainFigures } from '../../../query/shapes/domain.ts'
import type { Finding } from '../../../query/shapes/findings.ts'
import type { Autocorrelation, Pair, Peak, Seasonality, Stats } from '../../../query/shapes/stats.ts'
import { findingWindow } from '../../../web/charts/range.ts'
import { domainSentences } from '../../../web/pages/device/domain-sentences.ts'
import {
  dayPairsSentence,
  noLinkSentence,
  pairSentence,
  relatedPairs,
  shownPairs,
} from '../../../web/pages/device/pair-sentences.ts'
import { reliabilitySentences } from '../../../web/pages/device/reliability.ts'
import {
  qualitySentence,
  seasonalitySentences,
  seasonalitySummary,
} from '../../../web/pages/device/seasonality-sentences.ts'
import {
  anomalySentence,
  batterySentence,
  findingSentence,
  outlierSentence,
  outliersAbout,
  pageWords,
  timesOfFinding,
} from '../../../web/text/finding-words.ts'
import { duration, intervalTexts, listed, percent, twoDigits } from '../../../web/text/phrases.ts'
import { noPreferences, preferences } from '../../../web/text/preferences.ts'
import { builtInQuantities, measure, quantitiesOf } from '../../../web/text/quantities.ts'
import { reasonSentence } from '../../../web/text/reason-words.ts'
import { createZone } from '../../../web/text/zone.ts'
import { createTimes } from '../../../web/theme/times.ts'

const hourMs = 3_600_000
const plain = (texts: readonly string[]) => texts.join(' ').replaceAll('\u202f', ' ')
const temperature = builtInQuantities.of('temperature')

t.test('numbers, shares and spans', async t => {
  t.equal(decimalText(-0.04, 1), '0.0', 'no minus before nothing')
  t.equal(decimalText(-1.25, 1), '−1.3')
  t.equal(measure(-3, temperature), '−3.0\u202f°C')
  t.strictSame([0, 0.0123, -0.12, 3.456, 123].map(twoDigits), ['0', '0.012', '−0.12', '3.5', '123'])
  t.strictSame(
    [0, 0.0001, 0.004, 0.62, 0.994, 0.99999, 1].map(share => plain([percent(share)])),
    ['0 %', 'less than 0.1 %', '0.4 %', '62 %', '99.4 %', 'more than 99.9 %', '100 %'],
  )
  const durations = [0, 60, 90, 119.8, 5400, 35_990, 86_399, 100_000, 3_000_000].map(duration).join(', ')
  const actual = '0 seconds, 1 minute, 1 minute 30 seconds, 2 minutes, 1 hour 30 minutes, 10 hours, 24 hours'
  t.equal(durations, `${actual}, 1 day 4 hours, 35 days`)
  t.strictSame(
    [86_580, 106_800, 44_640, 1200, 90, 600_000].map(seconds => inOneUnit(seconds, true)),
    ['24 hours', '29.7 hours', '12.4 hours', '20 minutes', '90 seconds', '7 days'],
  )
  t.equal(inOneUnit(106_800), '30 hours')
  const interval = (...values: [number, number, number]) => intervalTexts(...values).join(' ')
  t.equal(interval(0.0771, 0.4712, 0.2312), '0.08 0.47 0.23')
  t.equal(interval(-1.2, 12, 5.55), '−1 12 6')
  t.equal(interval(20.0001, 20.0004, 20.0003), '20.00010 20.00040 20.00030')
  t.equal(interval(1, 1 + 1e-9, 1), '1.000000000 1.000000001 1.000000000', 'an interval has two ends')
  t.equal(listed(['a', 'b', 'c']), 'a, b and c')
})

t.test('every reason that the service gives has a sentence of its own', async t => {
  const actual = [...Object.values(reasons), ...pairReasons].map(reason => reasonSentence(reason))
  t.equal(new Set(actual).size, actual.length)
  t.ok(
    actual.every(sentence => /^[A-Z].*\.$/.test(sentence)),
    actual.join(' '),
  )
  t.equal(
    plain([reasonSentence('short_history', { needed: 14, found: 9.4 })]),
    'It needs 14 days of readings; there are 9.',
  )
  t.equal(
    plain([reasonSentence('sparse_hours', { needed: 0.6, found: 0.41 })]),
    'It needs values in 60 % of the time; there are values in 41 %.',
  )
  t.equal(reasonSentence('a_new_code'), 'a_new_code')
  t.equal(reasonSentence(null), 'Not computed.')
})

/** Fields that no sentence uses are left out, here and below. */
const peak = { period_hours: 24.05, power: 0.62, amplitude: 6.12, significant: true, harmonic_of: null } as Peak
const cycles = {
  status: 'ok',
  reason: null,
  slope_per_day: 0.123,
  slope_ci95: [0.05, 0.19],
  trend: { direction: 'rising', reason: null },
  peaks: [peak, { ...peak, period_hours: 12.01, harmonic_of: 24.05 }, { ...peak, period_hours: 0.34, power: 0.04 }],
  strength: { daily: 0.62, weekly: null, trend: null, reason: null },
  peak_hour: 15,
  trough_hour: 5.5,
} as unknown as Seasonality
const repeats = { lag_hours: 24, r: 0.756 }
const autocorrelation = { status: 'ok', reason: null, decorrelation_hours: 5.2, peak: repeats } as Autocorrelation

t.test('a cycle is described without statistical terms', async t => {
  const actual = (changes: object, related = autocorrelation) =>
    plain(seasonalitySentences(temperature, { ...cycles, ...changes }, related))
  t.equal(
    actual({}),
    'Temperature has a cycle of 24 hours: it explains 62 % of the variance, and swings by 6.1 °C either way. ' +
      'A usual day is highest about 15:00 and lowest about 05:30. A smaller cycle is of 20.4 minutes (4 %). ' +
      'Values stay related for about 5 hours. The pattern repeats most closely after 24 hours (correlation 0.76). ' +
      'It is rising by 0.12 °C a day (95 % interval 0.05 to 0.19).',
  )
  t.match(actual({ peaks: [{ ...peak, period_hours: 0.1, power: 0.009 }] }), 'shows no regular cycle', 'below 1 %')
  t.match(actual({ peaks: [{ ...peak, significant: false }] }), 'shows no regular cycle')
  t.match(actual({ peaks: [{ ...peak, amplitude: 0.034 }] }), 'swings by 0.034 °C either way', 'however little it is')
  t.match(actual({ trend: { direction: 'none', reason: null } }), 'There is no clear trend')
  const week = [
    { ...peak, cycles: 30 },
    ...[168, 84, 33.6, 28, 20].map(hours => ({ ...peak, period_hours: hours, cycles: 720 / hours, power: 0.05 })),
  ]
  t.match(actual({ peaks: week }), 'Its days differ over the week. A smaller cycle is of 20 hours (5 %).')
  t.notMatch(actual({ peaks: [week[0], week[2]] }), 'week')
  t.match(
    plain(seasonalitySentences(builtInQuantities.of('humidity'), cycles, autocorrelation)),
    'It is rising by 0.12 points a day',
    'a share changes by points',
  )
  const falling = { slope_per_day: -0.123, slope_ci95: [-0.19, -0.05], trend: { direction: 'falling', reason: null } }
  t.match(actual(falling), 'It is falling by 0.12 °C a day (95 % interval 0.05 to 0.19).')
  const narrow = { ...falling, slope_per_day: -1.0102, slope_ci95: [-1.0133, -1.0072] }
  t.match(actual(narrow), 'It is falling by 1.0102 °C a day (95 % interval 1.0072 to 1.0133).')
  t.notMatch(
    actual({ peaks: [{ ...peak, power: 0.06 }], day: { share: 0.08 } }),
    'A usual day',
    'too little to be seen',
  )
  const still = { ...cycles.strength, reason: reasons.nearlyConstant }
  t.match(actual({ strength: still }), 'has a cycle of 24 hours', 'a compressor is not in the hourly means')
  t.equal(
    actual({ strength: still, peaks: [] }),
    'The hourly means vary by less than half a step of the sensor: too little to find cycles or a trend.',
    'rounding hides the rest',
  )
  const short = actual({ status: 'insufficient_data', reason: reasons.shortSpan })
  t.equal(short, 'Daily cycles need more days of readings.', 'a day or two resemble themselves')
  const none = { status: 'constant', reason: 'no_variation' } as const
  t.equal(actual(none, { ...autocorrelation, ...none }), 'All values are the same.', 'it is shown once')
})

t.test('a daily cycle is denied only if it was searched for', async t => {
  const words = { of: 'the last 7 days', during: 'in the last 7 days', isOfAll: false }
  const none = { ...cycles, peaks: [] }
  const sparse = { ...none, status: 'insufficient_data', reason: reasons.sparseCells } as const
  const still = { ...none, status: 'constant', reason: reasons.doesNotVary } as const
  const actual = (temperature: Seasonality, humidity: Seasonality) => {
    const stats = { seasonality: { temperature, humidity } } as unknown as Stats
    return plain([seasonalitySummary(stats, ['temperature', 'humidity'], builtInQuantities, words)])
  }
  t.equal(actual(none, sparse), 'There is no daily cycle.')
  t.equal(actual(cycles, sparse), 'There is a daily cycle of temperature.')
  t.equal(actual(sparse, sparse), reasonSentence(reasons.sparseCells))
  t.equal(actual(sparse, still), 'No metric could be tested for a daily cycle.')
})

t.test('suspect readings', async t => {
  const tests = { range: 0, spike: 12, rate: 0, flat: 1005, error_code: 0 }
  t.equal(
    qualitySentence({ good: 9000, suspect: 1017, tests }),
    '1,017 of 10,017 readings are suspect (spike 12, flat line 1,005).',
  )
  const actual = (suspect: number, some: Partial<typeof tests>) =>
    qualitySentence({
      good: 1720 - suspect,
      suspect,
      tests: { range: 0, spike: 0, rate: 0, flat: 0, error_code: 0, ...some },
    })
  t.equal(actual(2, { spike: 2, rate: 1 }), '2 of 1,720 readings are suspect (spike 2, sudden step 1; 1 is both).')
  t.equal(actual(5, { spike: 4, rate: 4 }), '5 of 1,720 readings are suspect (spike 4, sudden step 4; 3 are both).')
  const several = actual(5, { range: 1, spike: 4, rate: 4 })
  t.match(several, '(out of range 1, spike 4, sudden step 4; some are several of these)')
  const one = actual(1, { range: 1, spike: 1, rate: 1 })
  t.equal(one, '1 of 1,720 readings is suspect (out of range, spike and sudden step).')
  t.equal(actual(1, { flat: 1 }), '1 of 1,720 readings is suspect (flat line).')
  t.equal(qualitySentence({ good: 0, suspect: 0, tests }), '')
  t.equal(qualitySentence({ good: 5, suspect: 0, tests }), '', 'the section says it once of all')
})

const lag = { lag_seconds: 7200, lag_r: -0.9, reason: null }
const pair = {
  a: 'temperature',
  b: 'humidity',
  pearson: -0.86,
  significant: true,
  r_deseasonalised: -0.31,
  ...lag,
} as Pair

t.test('a correlation is described if it is clear beyond the course of the day', async t => {
  const clear = { ...pair, r_deseasonalised: -0.8 }
  const actual = (one: Pair) => pairSentence(one, builtInQuantities).replaceAll('\u202f', ' ')
  const against = 'Temperature and humidity move against each other closely'
  t.equal(actual(clear), `${against}; humidity follows by 2 hours.`)
  t.equal(actual({ ...clear, lag_r: 0.45 }), `${against}.`, 'what moves the other way later does not follow')
  const turned = { ...clear, r_deseasonalised: 0.8 }
  t.strictSame(
    relatedPairs([turned]),
    { strongest: [], ofDay: ['temperature', 'humidity'] },
    'the rest has the other sign',
  )
  t.match(pairSentence({ ...clear, lag_seconds: -3600 }, builtInQuantities), /; temperature follows by 1 hour/)
  const weak = { ...pair, b: 'pressure', pearson: 0.2 }
  t.strictSame(shownPairs([weak, { ...pair, pearson: null }, pair]), [pair, weak])
  t.strictSame(relatedPairs([clear, pair, weak]), { strongest: [clear], ofDay: ['temperature', 'humidity'] })
  t.equal(
    dayPairsSentence(['temperature', 'humidity'], builtInQuantities),
    'Temperature and humidity follow the same course of the day.',
  )
  const untold = [weak, ...[{ significant: false }, { b: 'dew_point' }].map(more => ({ ...clear, ...more }))]
  t.strictSame(relatedPairs(untold), { strongest: [], ofDay: [] })
  t.equal(relatedPairs(Array.from({ length: 12 }, () => clear)).strongest.length, 5)
  t.equal(noLinkSentence(untold), 'No clear link.')
  const few = { ...clear, significant: null, reason: 'too_few_independent' } as const
  t.strictSame(relatedPairs([few]), { strongest: [], ofDay: [] })
  t.equal(noLinkSentence([few]), 'No clear link (too few independent hours).')
})

t.test('how reliably a device reports', async t => {
  const gaps = { gap_count: 3, longest_gap_seconds: 7800, truncated: false }
  const window = { completeness: 0.9921, hours_with_data: null, ...gaps }
  const freshness = { expected_interval_seconds: 60, cadence: 'regular' } as const
  const actual = (changes: object, pace = freshness as object) =>
    plain(reliabilitySentences({ ...freshness, ...pace }, { ...window, ...changes }))
  t.equal(
    actual({}),
    'It reports every minute. Of the readings expected in the last 30 days, 99.2 % have arrived. There were 3 gaps, the longest of 2 hours 10 minutes.',
  )
  const rare = { completeness: null, hours_with_data: 0.8, gap_count: 0, truncated: true }
  t.equal(
    actual(rare, { cadence: 'irregular', expected_interval_seconds: 90 }),
    'It reports about every 90 seconds. There are readings in 80 % of the hours since its oldest reading. There was no gap.',
  )
  t.match(actual({}, { expected_interval_seconds: null, cadence: 'unknown' }), /too few readings/)
})

t.test('the days left of a battery, and the difference of a device', async t => {
  const battery = { device: 'Cellar', metric: 'battery_voltage', percent_per_day: -1 } as const
  const actual = (days_left: number, low: number, high: number) =>
    batterySentence({ ...battery, days_left, low, high }, builtInQuantities)
  t.equal(actual(12.4, 9.2, 16.6), 'about 12 days (9 to 17)')
  t.equal(actual(1, 0.4, 3), 'about 1 day (0 to 3)')
  t.equal(actual(0.6, 0.2, 2.9), 'less than a day (0 to 3)')
  t.equal(actual(30, 20.9, 5852.3), 'about 30 days (20 to more than 365)')
  t.equal(actual(0, 0, 0), 'less than a day')
  const co2 = { title: 'CO₂', kind: 'gauge', unit: 'ppm', decimals: 0 } as const
  const pack = { title: 'Battery pack', kind: 'gauge', unit: 'mV', decimals: 0 } as const
  const quantities = quantitiesOf({ co2, battery_pack: pack })
  const ofPack = { ...battery, metric: 'battery_pack', days_left: 12.4, low: 9.2, high: 16.6 }
  t.equal(batterySentence(ofPack, quantities), 'Battery pack: about 12 days (9 to 17)')
  const outlier = { device: 'Attic', value: 31.24, median: -0.04, score: 9, peers: 4 }
  t.equal(plain([outlierSentence({ ...outlier, metric: 'co2' }, quantities)]), 'CO₂ 31 ppm, expected 0 ppm')
  const odd = outlierSentence({ ...outlier, metric: 'temperature' }, quantities)
  t.equal(plain([odd]), 'Temperature 31.2 °C, expected 0.0 °C')
  const near = quantitiesOf({ conductivity: { title: 'Conductivity', kind: 'gauge', unit: 'mS/cm', decimals: 3 } })
  const outlierOf = (value: number, median: number) =>
    plain([outlierSentence({ ...outlier, metric: 'conductivity', value, median }, near)])
  t.equal(outlierOf(0.2145, 0.2111), 'Conductivity 0.214 mS/cm, expected 0.211 mS/cm')
  t.equal(outlierOf(0.21145, 0.21135), 'Conductivity 0.21145 mS/cm, expected 0.21135 mS/cm')
  const about = (...peers: number[]) => Object.values(outliersAbout(peers.map(peers => ({ peers })))).join(': ')
  const asOthers = 'Means of the last 24 hours, and expected means, had the device changed as devices like it did'
  const usual = 'usual values of the device, by the 14 days before'
  t.equal(about(4, 50), `Unlike the others: ${asOthers}.`)
  t.equal(about(0, 0), `Unlike before: Means of the last 24 hours, and ${usual}: no other is like it.`)
  t.equal(about(0, 4), `Unlike the others: ${asOthers}, or, where no other is like it, ${usual}.`)
})

const berlin = createZone('Europe/Berlin')
const nowMs = Date.UTC(2026, 10, 23, 18)

const stuck = {
  code: 'stuck',
  metric: 'temperature',
  since: '2026-11-23 14:20',
  until: null,
  value: 21.5,
  expected: null,
  count: 1,
} as Finding

t.test("a finding has the reader's units and zone", async t => {
  t.teardown(() => (preferences.value = noPreferences))
  const actual = (finding: Finding, zone: string) =>
    findingSentence(finding, pageWords(quantitiesOf(), createTimes(zone), nowMs), berlin).replaceAll('\u202f', ' ')
  t.equal(actual(stuck, 'Europe/Berlin'), 'Temperature has stood at 21.5 °C since 14:20')
  t.equal(actual(stuck, 'UTC'), 'Temperature has stood at 21.5 °C since 13:20')
  const yesterday = { ...stuck, since: '2026-11-22 08:20', until: '2026-11-22 20:20' }
  t.equal(actual(yesterday, 'Europe/Berlin'), 'Temperature stood at 21.5 °C for 12 hours from 22 Nov 2026, 08:20')
  preferences.value = { ...noPreferences, temperature_unit: '[degF]' }
  t.equal(actual(stuck, 'UTC'), 'Temperature has stood at 70.7 °F since 13:20')
  const level: Finding = { ...stuck, code: 'level_change', value: 20.01, expected: [19.99, 20.01] }
  const ofLevel = actual(level, 'UTC')
  t.equal(ofLevel, 'Temperature has been 0.02 °F higher since 23 Nov 2026: about 68.02 °F instead of 68.00 °F')
})

t.test('a spike and a jump have the time of their value, as in the service', async t => {
  const words = pageWords(quantitiesOf(), createTimes('Europe/Berlin'), nowMs)
  const [start, end] = ['2026-11-23 11:10', '2026-11-23 11:30']
  const of = { id: '', metric: 'temperature', start, end, expected: [17, 23], count: 3, reason: '' } as const
  const actual = (anomaly: Pick<Anomaly, 'code' | 'value' | 'value_at'>) =>
    anomalySentence({ ...of, ...anomaly }, words, berlin).replaceAll('\u202f', ' ')
  const at = { value: 45, value_at: '2026-11-23 11:20' }
  t.equal(actual({ code: 'spike', ...at }), 'Temperature had a spike at 11:20: 45.0 °C, expected 17.0 °C to 23.0 °C')
  t.equal(actual({ code: 'jump', ...at }), 'Temperature jumped at 11:20: 45.0 °C, expected 17.0 °C to 23.0 °C')
})

t.test('the charts include the time before an anomaly, and after it if it is over', async t => {
  const windowOf = (since: string, until: string | null) => {
    const { fromMs, toMs } = findingWindow(timesOfFinding({ since, until }, berlin), nowMs)
    return [(nowMs - fromMs) / hourMs, (nowMs - toMs) / hourMs]
  }
  t.strictSame(windowOf('2026-11-23 17:00', null), [3, 0], 'an hour at least')
  t.strictSame(windowOf('2026-11-22 19:00', null), [30, 0])
  t.strictSame(windowOf('2026-11-22 15:00', '2026-11-22 23:00'), [30, 18])
  t.equal(windowOf('2020-01-01 00:00', null)[0], 366 * 24, 'no longer than a chart')
  t.strictSame(windowOf('2026-11-23 19:00', '2026-11-23 19:00'), [1, 0])
})

const noFigures = { weather: null, indoor: null, cold_chain: null, greenhouse: null } as DomainFigures

function sentencesOf(parts: Partial<DomainFigures>): string[] {
  return domainSentences({ ...noFigures, ...parts }, builtInQuantities).map(([name, sentence]) =>
    `${name}: ${sentence}`.replaceAll('\u202f', ' '),
  )
}

t.test('each figure has a sentence, or says why there is none', async t => {
  const spread = { reason: null, unit: 'hPa', observed_hours: 24, mean: 1012.48, min: 1001, max: 1025 }
  const hours = { reason: null, observed_hours: 24, hours: 3 }
  const degree_days = { reason: null, days: 1, heating_15_5: 51.1, heating_20_15: 78, cooling_22: 0 }
  const weather = { sea_level_pressure: spread, frost: hours, dew: { ...hours, hours: 0 }, degree_days }
  t.strictSame(sentencesOf({ weather: { total: weather, days: [] } }), [
    'Pressure at sea level: It was 1012.5 hPa on average, 1001.0 hPa to 1025.0 hPa.',
    'Frost: It was below 0.0 °C in 3 of 24 hours.',
    'Dew: The air was almost at its dew point in none of 24 hours.',
    'Degree days: In 1 day: heating 51 K·d below 15.5 °C and 78 K·d by VDI 3807, cooling 0 K·d above 22.0 °C.',
  ])
  const values = Float64Array.of(19, 21, 27, 21)
  const temperature = bandFigure({ values }, { unit: '°C', below: 20, above: 26 })
  const humidity = bandFigure({ values: new Float64Array(0) }, { unit: '%', below: 25, above: 60 })
  const mould = { reason: reasons.noHours, observed_hours: 0, hours: null, measured_outdoor_hours: 0 }
  t.strictSame(sentencesOf({ indoor: { total: { temperature, humidity, mould }, days: [] } }), [
    'Temperature: It was below 20.0 °C in 1 and above 26.0 °C in 1 of 4 hours.',
    'Humidity: There is no hour with all values that it needs.',
    'Mould: There is no hour with all values that it needs.',
  ])
  const samples = { timesMs: Float64Array.of(0, hourMs / 2), values: Float64Array.of(9, 5) }
  const range = { startMs: 0, endMs: hourMs, isHourly: false }
  const { total } = coldChainFigures({ samples, gaps: [], ...range }, [])
  t.strictSame(sentencesOf({ cold_chain: { total, days: [] } }), [
    'Temperature: It was above 8.0 °C in 30 minutes of 1 hour, and never below 2.0 °C.',
    'Mean kinetic temperature: It was 7.2 °C.',
    'Doors: It needs a reading at least every 10 minutes.',
    'Defrosts: It needs a reading at least every 10 minutes.',
  ])
  const short = { ...total, temperature: { ...total.temperature, observed_hours: 0.4, hours_above: 0.35 } }
  t.equal(
    sentencesOf({ cold_chain: { total: short, days: [] } })[0],
    'Temperature: It was above 8.0 °C in 21 minutes of 24 minutes, and never below 2.0 °C.',
    'less than an hour is in minutes',
  )
  const cold = { samples: { ...samples, values: Float64Array.of(-18, -19) }, gaps: [], ...range, band: null }
  const frozen = coldChainFigures(cold, [])
  t.equal(
    sentencesOf({ cold_chain: { total: frozen.total, days: [] } })[0],
    'Temperature: It was −18.5 °C on average, −19.0 °C to −18.0 °C. Excursions need limits: this device has none.',
  )
  const defrosts = { reason: null, count: 21, period_hours: 8.001 }
  const defrosted = { ...total, door_openings: { reason: null, count: 1 }, defrosts }
  t.strictSame(sentencesOf({ cold_chain: { total: defrosted, days: [] } }).slice(2), [
    'Doors: The temperature rose once, as it does when a door is open.',
    'Defrosts: There were 21 defrosts, one every 8 hours.',
  ])
  const vapour_pressure_deficit = { ...temperature, unit: 'kPa', below: 0.4, above: 1.6, mean: 0.587 }
  t.strictSame(sentencesOf({ greenhouse: { total: { vapour_pressure_deficit, leaf_dew: hours }, days: [] } }), [
    'Vapour-pressure deficit: It was 0.59 kPa on average. It was below 0.40 kPa in 1 and above 1.60 kPa in 1 of 4 hours.',
    'Dew on leaves: Leaves were at their dew point in 3 of 24 hours.',
  ])
  t.strictSame(sentencesOf({}), [])
})
