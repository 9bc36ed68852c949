/** Two devices side by side, by the kinds of their metrics: words, charts, tables and files. */

import t from 'tap'
import { agreementSentences, directionSentences, stateSentences } from '../../web/pages/compare/agreement-sentences.ts'
import type { Agreement } from '../../web/pages/compare/answers.ts'
import { askedNames, comparedNames } from '../../web/pages/compare/compared-names.ts'
import { comparedTable } from '../../web/pages/compare/compared-table.ts'
import { metricPanels } from '../../web/pages/compare/comparison-panels.ts'
import { noPreferences, preferences } from '../../web/text/preferences.ts'
import { builtInQuantities, quantitiesOf } from '../../web/text/quantities.ts'
import { createTimes } from '../../web/theme/times.ts'

const hourMs = 3_600_000
const plain = (texts: readonly string[]) => texts.join(' ').replaceAll('\u202f', ' ')
const quantities = quantitiesOf({
  rain_total: { title: 'Rain in total', kind: 'counter', unit: 'mm', decimals: 1 },
  wind_direction: { title: 'Wind direction', kind: 'direction', unit: '°', decimals: 0 },
})
const unlinked = { pearson: null, p_value: null, lag_seconds: null, lag_r: null, verdict: null, reason: 'constant' }
const stats = { n: 2, bias: 0.5, limits_of_agreement: [-1, 2], ...unlinked } as unknown as Agreement
const point = (hour: number, v: number) => ({ t: hour * hourMs, v, d: '2026-01-01 00:00' })
const pair = { a: 'roof', b: 'porch' }
const temperature = builtInQuantities.of('temperature')

t.test('what is said of amounts, directions and states', async t => {
  const rain = { ...pair, quantity: quantities.of('rain_total') }
  t.match(
    plain(agreementSentences(rain, stats)),
    /^roof has 0\.5 mm more an hour than porch on average\. About 95 % .* −1\.0 and 2\.0 mm\./,
  )
  t.match(plain(agreementSentences(rain, { ...stats, bias: 0.01 })), /^roof and porch have the same on average\./)
  const wind = { ...pair, quantity: quantities.of('wind_direction') }
  const told = (bias: number | null) =>
    plain(directionSentences(wind, { n: 5, bias, mae: 12.4, resultant_length: 0.9 }))
  t.equal(told(20.2), 'roof points 20° clockwise of porch on average. The hourly directions are 12° apart on average.')
  t.match(told(-20.2), /^roof points 20° anticlockwise of porch/)
  t.match(told(0.2), /^roof and porch point the same way on average\./)
  t.match(told(null), /^The differences go all ways alike\./)
  const none = { n: 0, bias: null, mae: null, resultant_length: null }
  t.match(plain(directionSentences(wind, none)), /^There is no hour in which both have a value\./)
  const sames = { known_seconds: 86_400, same_seconds: 43_200, same_share: 0.5 }
  t.equal(plain(stateSentences(sames)), 'Both were in the same state 50 % of the 1 day in which both are known.')
  t.match(plain(stateSentences({ known_seconds: 0, same_seconds: 0, same_share: null })), /no time/)
})

t.test('how two devices agree', async t => {
  const linked = { bias: 0.44, limits_of_agreement: [-1.2, 2.04], pearson: 0.97, p_value: 0.001 } as const
  const later = { lag_seconds: 3600, lag_r: 0.98, verdict: 'together', reason: null } as const
  const told = (changes: Partial<Agreement>) =>
    plain(agreementSentences({ ...pair, quantity: temperature }, { ...stats, ...linked, ...later, ...changes }))
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
  t.match(told(few), /It needs more hours to say whether they go together \(correlation 0\.97\)/)
  t.match(told({ pearson: null, reason: 'constant' }), /One of the two does not vary/)
  t.equal(told({ bias: null }), 'There is no hour in which both have a value.')
})

t.test('amounts are bars side by side, directions are points around the compass', async t => {
  const rain = {
    kind: 'counter',
    unit: 'mm',
    a: [point(0, 1), point(1, 2)],
    b: [point(1, 3)],
    diff: [point(1, -1)],
    stats,
  } as const
  const [both] = metricPanels({ ...pair, quantity: quantities.of('rain_total') }, rain as never)
  const bars = both?.content.blocks?.map(({ fromMs, toMs, high }) => `${fromMs / hourMs} to ${toMs / hourMs}: ${high}`)
  t.strictSame(bars, ['0 to 0.5: 1', '1 to 1.5: 2', '1.5 to 2: 3'])
  t.equal(both?.content.isFromZero, true)
  const wind = {
    kind: 'direction',
    unit: '°',
    a: [point(0, 350)],
    b: [point(0, 10)],
    diff: [point(0, -20)],
    stats: { n: 1, bias: -20, mae: 20, resultant_length: 1 },
  }
  const [angles, turns] = metricPanels({ ...pair, quantity: quantities.of('wind_direction') }, wind as never)
  const dots = { width: 0, points: 'all' }
  t.match(angles?.content, { range: [0, 360], lines: [dots, dots] }, 'no line crosses north')
  t.match(turns?.content, { range: [-180, 180], rules: [{ value: -20 }] })
})

t.test('directions are told as everywhere: by the compass, below 360°, with ° without a unit, too', async t => {
  const bare = quantitiesOf({ heading: { title: 'Heading', kind: 'direction', unit: null, decimals: 0 } })
  const names = { ...pair, quantity: bare.of('heading') }
  const metric = {
    kind: 'direction',
    unit: null,
    a: [point(0, 359.7)],
    b: [point(0, -90)],
    diff: [point(0, 89.7)],
    stats: { n: 1, bias: 89.7, mae: 89.7, resultant_length: 1 },
  } as never
  const [both] = metricPanels(names, metric)
  t.match(both?.readouts, [{ values: [359.7] }, { values: [270] }])
  t.equal(both?.readouts.map(({ textAt }) => textAt?.(0)).join(), 'N 0°,W 270°')
  const window = { fromMs: 0, toMs: hourMs }
  const { columns, rows } = comparedTable(names, metric, { window, times: createTimes('UTC') })
  t.equal(columns.map(({ name }) => name).join('; '), 'roof; porch; Difference, °')
  t.strictSame(rows[0]?.cells, ['N 0°', 'W 270°', 89.7])
})

t.test('values and differences are in the unit that a person has chosen', async t => {
  t.teardown(() => {
    preferences.value = noPreferences
  })
  preferences.value = { ...noPreferences, temperature_unit: '[degF]' }
  const of = { ...pair, quantity: builtInQuantities.of('temperature') }
  const metric = { unit: '°C', a: [point(0, 20)], b: [point(0, 15)], diff: [point(0, 5)], stats: { ...stats, bias: 5 } }
  const [both, difference] = metricPanels(of, metric)
  t.match(both?.readouts, [{ values: [68] }, { values: [59] }])
  const rules = [{ value: 9 }, { value: -1.8 }, { value: 3.6 }]
  t.match(difference, { readouts: [{ values: [9] }], content: { rules } })
  t.match(plain(agreementSentences(of, { ...stats, bias: 5 })), /reads 9\.0 °F more .* −1\.8 and 3\.6 °F/)
})

t.test('of many metrics a comparison is asked for twelve, until others are chosen', async t => {
  const value = { v: 1, ts: 1, unit: '' }
  const valuesOf = (...names: string[]) => Object.fromEntries(names.map(name => [name, value]))
  const many = Array.from({ length: 20 }, (_, place) => `m${place}`)
  const [a, b] = [valuesOf('temperature', 'battery_voltage', 'own', ...many), valuesOf('pressure', ...many)]
  t.strictSame(comparedNames(a, b, undefined), ['temperature', 'pressure', ...many], 'of the air those of either')
  t.equal(askedNames(a, b, null), many.slice(0, 10).join(','), 'those of the air are there anyway')
  t.equal(askedNames(a, b, 'm19,gone,m2'), 'm2,m19', 'in the order of the first')
  t.equal(askedNames(a, b, 'pressure'), 'temperature', 'no other one')
  t.equal(askedNames(a, valuesOf('pressure', ...many.slice(0, 10)), 'm1'), undefined, 'all get the same answer')
  const hours = (count: number) => ({ a: new Array(count).fill(point(0, 1)), b: [] })
  const answer = { temperature: hours(0), humidity: hours(1), pressure: hours(0), old: hours(1), metrics: { old: {} } }
  t.strictSame(comparedNames({}, {}, answer as never), ['humidity', 'old'], 'what the answer has besides')
})
