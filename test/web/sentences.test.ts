/** What the pages say of figures: each status and reason has its sentence, and numbers read as people write them. */

import t from 'tap'
import { pairReasons, reasonTexts } from '../../analytics/reasons.ts'
import type { Autocorrelation, Pair } from '../../query/shapes/correlation.ts'
import type { Peak, Seasonality } from '../../query/shapes/seasonality.ts'
import type { Stats } from '../../query/shapes/stats.ts'
import { agreementSentences } from '../../web/pages/compare/agreement-sentences.ts'
import type { Agreement } from '../../web/pages/compare/answers.ts'
import {
  dayPairsSentence,
  noLinkSentence,
  pairSentence,
  shownPairs,
  toldPairs,
} from '../../web/pages/device/pair-sentences.ts'
import { reliabilitySentences } from '../../web/pages/device/reliability-sentences.ts'
import {
  cycleSentences,
  qualitySentence,
  reasonSentence,
  seasonalitySentences,
  seasonalityTold,
  trendSentences,
} from '../../web/pages/device/seasonality-sentences.ts'
import { batterySentence, outlierSentence, outliersAbout } from '../../web/pages/fleet/insight-sentences.ts'
import { pairReasonSentence } from '../../web/text/correlation-words.ts'
import { decimalText, intervalTexts } from '../../web/text/numbers.ts'
import { duration, inOneUnit, listed, percent, twoDigits } from '../../web/text/phrases.ts'
import { builtInQuantities, measure, quantitiesOf } from '../../web/text/quantities.ts'

/** As a person reads it: thin spaces are spaces. */
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
  const told = '0 seconds, 1 minute, 1 minute 30 seconds, 2 minutes, 1 hour 30 minutes, 10 hours, 24 hours'
  t.equal(durations, `${told}, 1 day 4 hours, 35 days`)
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
  for (const reason of Object.values(reasonTexts)) t.not(reasonSentence(reason).slice(1), `${reason.slice(1)}.`, reason)
  t.equal(reasonSentence('a new reason'), 'A new reason.')
  t.equal(reasonSentence(null), 'Not computed.')
  for (const reason of pairReasons.filter(reason => reason !== 'lag_not_significant')) {
    t.not(pairReasonSentence(reason), 'Not computed.', reason)
  }
})

const peak: Peak = {
  period_hours: 24.05,
  cycles: 7,
  power: 0.62,
  amplitude: 6.12,
  phase_time: '15:10',
  snr: 20,
  fap: 0,
  significant: true,
  harmonic_of: null,
}
const trendOf = (direction: 'rising' | 'falling' | 'none') => ({
  direction,
  reason: null,
  n_eff: null,
  theil_sen_per_day: null,
  mann_kendall: null,
  drift: null,
})
const cycles: Seasonality = {
  status: 'ok',
  reason: null,
  slope_per_day: 0.123,
  slope_ci95: [0.05, 0.19],
  trend: trendOf('rising'),
  peaks: [peak, { ...peak, period_hours: 12.01, harmonic_of: 24.05 }, { ...peak, period_hours: 0.34, power: 0.004 }],
  strength: { daily: 0.62, weekly: null, trend: null, reason: null },
  label: 'strong',
  periodogram: null,
  daily_profile: [],
  weekly_profile: null,
  peak_hour: 15,
  trough_hour: 5.5,
}
const autocorrelation: Autocorrelation = {
  status: 'ok',
  reason: null,
  n: 168,
  n_observed: 168,
  max_lag_hours: 168,
  lags_hours: [],
  acf: [],
  band95: [],
  band95_white: [],
  n_pairs: [],
  decorrelation_hours: 5.2,
  peak: { lag_hours: 24, r: 0.756 },
}

t.test('a cycle is told without the words of statistics', async t => {
  t.equal(
    plain(seasonalitySentences(temperature, cycles, autocorrelation)),
    'Temperature has a cycle of 24 hours: it explains 62 % of the variance, and swings by 6.1 °C either way. ' +
      'A usual day is highest about 15:00 and lowest about 05:30. A smaller cycle is of 20.4 minutes (0.4 %). ' +
      'Values stay related for about 5 hours. The pattern repeats most closely after 24 hours (correlation 0.76). ' +
      'It is rising by 0.12 °C a day (95 % interval 0.05 to 0.19).',
  )
  t.match(
    plain(cycleSentences(temperature, { ...cycles, peaks: [{ ...peak, significant: false }] })),
    /shows no regular cycle/,
  )
  t.match(plain(trendSentences(temperature, { ...cycles, trend: trendOf('none') })), /There is no clear trend/)
  const falling: Seasonality = {
    ...cycles,
    slope_per_day: -0.123,
    slope_ci95: [-0.19, -0.05],
    trend: trendOf('falling'),
  }
  t.equal(
    plain(trendSentences(temperature, falling)),
    'It is falling by 0.12 °C a day (95 % interval 0.05 to 0.19).',
    'the amount is in the interval',
  )
  t.equal(
    plain(trendSentences(temperature, { ...falling, slope_per_day: -1.0102, slope_ci95: [-1.0133, -1.0072] })),
    'It is falling by 1.0102 °C a day (95 % interval 1.0072 to 1.0133).',
    'also where that is narrow',
  )
  t.match(
    plain(cycleSentences(temperature, { ...cycles, peaks: [{ ...peak, amplitude: 0.034 }] })),
    'swings by 0.034 °C either way',
    'however little that is',
  )
  const still = { ...cycles, strength: { ...cycles.strength, reason: reasonTexts.nearlyConstant } }
  t.equal(
    plain(seasonalitySentences(temperature, still, autocorrelation)),
    'The values vary by less than half a step of the sensor: too little to find cycles or a trend.',
    'of rounding nothing else is told',
  )
  const short = { ...cycles, status: 'insufficient_data', reason: reasonTexts.shortSpan } as const
  t.equal(
    plain(seasonalitySentences(temperature, short, autocorrelation)),
    'Daily cycles appear after three days of readings.',
    'a day or two resemble themselves by nothing but their course',
  )
  const none = { ...cycles, status: 'constant', reason: 'the values do not vary' } as const
  t.equal(
    plain(
      seasonalitySentences(temperature, none, {
        ...autocorrelation,
        status: 'constant',
        reason: 'the values do not vary',
      }),
    ),
    'All values are the same.',
    'what holds for all of it is said once',
  )
})

t.test('there is no daily cycle only where one was looked for', async t => {
  const words = { of: 'the last 7 days', during: 'in the last 7 days', isOfAll: false }
  const none = { ...cycles, peaks: [] }
  const sparse = { ...none, status: 'insufficient_data', reason: reasonTexts.sparseCells } as const
  const still = { ...none, status: 'constant', reason: reasonTexts.doesNotVary } as const
  const told = (temperature: Seasonality, humidity: Seasonality) => {
    const stats = { seasonality: { temperature, humidity } } as unknown as Stats
    return plain([seasonalityTold(stats, ['temperature', 'humidity'], builtInQuantities, words)])
  }
  t.equal(told(none, sparse), 'There is no daily cycle.')
  t.equal(told(cycles, sparse), 'There is a daily cycle of temperature.')
  t.equal(told(sparse, sparse), reasonSentence(reasonTexts.sparseCells))
  t.equal(told(sparse, still), 'No metric could be tested for a daily cycle.')
})

t.test('suspect readings', async t => {
  const tests = { range: 0, spike: 12, rate: 0, flat: 1005 }
  t.equal(
    qualitySentence({ good: 9000, suspect: 1017, tests }),
    '1,017 of 10,017 readings are suspect (spike 12, flat line 1,005).',
  )
  const told = (suspect: number, some: Partial<typeof tests>) =>
    qualitySentence({ good: 1720 - suspect, suspect, tests: { range: 0, spike: 0, rate: 0, flat: 0, ...some } })
  t.equal(told(2, { spike: 2, rate: 1 }), '2 of 1,720 readings are suspect (spike 2, sudden step 1; 1 is both).')
  t.equal(told(5, { spike: 4, rate: 4 }), '5 of 1,720 readings are suspect (spike 4, sudden step 4; 3 are both).')
  t.match(
    told(5, { range: 1, spike: 4, rate: 4 }),
    '(out of range 1, spike 4, sudden step 4; some are several of these)',
  )
  t.equal(
    told(1, { range: 1, spike: 1, rate: 1 }),
    '1 of 1,720 readings is suspect (out of range, spike and sudden step).',
  )
  t.equal(told(1, { flat: 1 }), '1 of 1,720 readings is suspect (flat line).')
  t.equal(qualitySentence({ good: 0, suspect: 0, tests }), '')
  t.equal(qualitySentence({ good: 5, suspect: 0, tests }), '', 'the section says it once of all')
})

const pair: Pair = {
  a: 'temperature',
  b: 'humidity',
  n: 700,
  n_eff: 60,
  pearson: -0.86,
  p_value: 0.001,
  ci95: [-0.9, -0.8],
  spearman: -0.85,
  spearman_p_value: 0.001,
  significant: true,
  r_deseasonalised: -0.31,
  lag_seconds: 7200,
  lag_r: -0.9,
  reason: null,
}

t.test('what goes together is told where that is clear and more than the course of the day', async t => {
  const clear = { ...pair, r_deseasonalised: -0.8 }
  t.equal(
    pairSentence(clear, builtInQuantities).replaceAll('\u202f', ' '),
    'Temperature and humidity move against each other closely; humidity follows by 2 hours.',
  )
  t.equal(
    pairSentence({ ...clear, lag_r: 0.45 }, builtInQuantities),
    'Temperature and humidity move against each other closely.',
    'what moves the other way later does not follow',
  )
  const turned = { ...clear, r_deseasonalised: 0.8 }
  t.strictSame(toldPairs([turned]), { told: [], ofDay: ['temperature', 'humidity'] }, 'the rest has the other sign')
  t.match(pairSentence({ ...clear, lag_seconds: -3600 }, builtInQuantities), /; temperature follows by 1 hour/)
  const weak = { ...pair, b: 'pressure', pearson: 0.2 }
  t.strictSame(shownPairs([weak, { ...pair, pearson: null }, pair]), [pair, weak])
  t.strictSame(toldPairs([clear, pair, weak]), { told: [clear], ofDay: ['temperature', 'humidity'] })
  t.equal(
    dayPairsSentence(['temperature', 'humidity'], builtInQuantities),
    'Temperature and humidity follow the same course of the day.',
  )
  const untold = [
    weak,
    { ...clear, significant: false },
    { ...clear, b: 'battery_voltage' },
    { ...clear, b: 'dew_point' },
  ]
  t.strictSame(toldPairs(untold), { told: [], ofDay: [] })
  t.equal(toldPairs(Array.from({ length: 12 }, () => clear)).told.length, 5)
  t.equal(noLinkSentence(untold), 'No clear link.')
  const few = { ...clear, significant: null, reason: 'too_few_independent' } as const
  t.strictSame(toldPairs([few]), { told: [], ofDay: [] })
  t.equal(noLinkSentence([few]), 'No clear link (too few independent hours).')
})

t.test('how reliably a device reports', async t => {
  const window = {
    completeness: 0.9921,
    hours_with_data: null,
    gap_count: 3,
    longest_gap_seconds: 7800,
    truncated: false,
  }
  const freshness = { expected_interval_seconds: 60, cadence: 'regular' } as const
  const told = (changes: object, pace = freshness as object) =>
    plain(reliabilitySentences({ ...freshness, ...pace }, { ...window, ...changes }))
  t.equal(
    told({}),
    'It reports every minute. Of the readings expected in the last 30 days, 99.2 % have come. There were 3 gaps, the longest of 2 hours 10 minutes.',
  )
  t.equal(
    told(
      { completeness: null, hours_with_data: 0.8, gap_count: 0, truncated: true },
      { cadence: 'irregular', expected_interval_seconds: 90 },
    ),
    'It reports about every 1 minute 30 seconds. There are readings in 80 % of the hours since its oldest reading. There was no gap.',
  )
  t.match(told({}, { expected_interval_seconds: null, cadence: 'unknown' }), /too few readings/)
})

t.test('how two devices agree', async t => {
  const stats: Agreement = {
    n: 100,
    bias: 0.44,
    sd_diff: 0.83,
    mae: 0.7,
    rmse: 0.9,
    pearson: 0.97,
    n_eff: 40,
    p_value: 0.001,
    spearman: 0.96,
    limits_of_agreement: [-1.2, 2.04],
    slope: 1,
    intercept: 0,
    lag_seconds: 3600,
    lag_r: 0.98,
    verdict: 'together',
    reason: null,
  }
  const compared = { quantity: temperature, a: 'roof', b: 'porch' }
  const told = (changes: Partial<Agreement>) => plain(agreementSentences(compared, { ...stats, ...changes }))
  t.equal(
    told({}),
    'roof reads 0.4 °C more than porch on average. About 95 % of the hourly differences lie between −1.2 and 2.0 °C. ' +
      'The two rise and fall together very closely (correlation 0.97). porch follows roof by 1 hour.',
  )
  t.match(told({ bias: -0.04 }), /^roof and porch read the same on average/)
  t.match(told({ bias: -0.5, lag_seconds: -7200 }), /0.5 °C less than porch.*roof follows porch by 2 hours/)
  t.match(told({ pearson: -0.8, verdict: 'no_link' }), /move against each other closely/)
  t.notMatch(told({ pearson: -0.8, verdict: 'no_link' }), 'follows', 'what moves the other way an hour later')
  t.match(told({ p_value: 0.3, verdict: 'no_link' }), /No clear link \(correlation 0\.97\)/)
  const few = { p_value: null, verdict: null, reason: 'too_few_independent' } as const
  t.match(told(few), /No clear link \(too few independent hours, correlation 0\.97\)/)
  t.match(told({ ...few, verdict: 'together', reason: null }), /rise and fall together very closely/)
  t.match(told({ pearson: null, reason: 'constant' }), /One of the two does not vary/)
  t.equal(told({ bias: null }), 'There is no hour in which both have a value.')
})

t.test('how long a battery lasts, and how a device differs', async t => {
  const battery = { device: 'Cellar', metric: 'battery_voltage', percent_per_day: -1 } as const
  const told = (days_left: number, low: number, high: number) =>
    batterySentence({ ...battery, days_left, low, high }, builtInQuantities)
  t.equal(told(12.4, 9.2, 16.6), 'about 12 days (9 to 17)')
  t.equal(told(1, 0.4, 3), 'about 1 day (0 to 3)')
  t.equal(told(0.6, 0.2, 2.9), 'less than a day (0 to 3)')
  t.equal(told(12, 12, 12), 'about 12 days', 'a line without noise')
  t.equal(told(30, 20.9, 5852.3), 'about 30 days (20 to more than 365)')
  t.equal(told(0, 0, 0), 'less than a day')
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
  const means = 'Means of the last 24 hours, and what'
  t.equal(about(4, 50), `Unlike the others: ${means} they would be had the device changed as those like it did.`)
  t.equal(about(0, 0), `Unlike before: ${means} is usual for the device by the 14 days before: no other is like it.`)
  t.match(about(0, 4), /^Unlike the others: .* did, or, where no other is like it, what is usual .* before\.$/)
})
