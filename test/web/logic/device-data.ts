/** Answers on the device and compare pages: series with their gaps, calendars, tables, and keys. */

import t from 'tap'
import { keyAction, moveCursor } from '../../../web/charts/chart-keys.ts'
import { extremesText } from '../../../web/charts/readouts.ts'
import {
  agreementSentences,
  directionSentences,
  stateSentences,
} from '../../../web/pages/compare/agreement-sentences.ts'
import { type Agreement, askedNames, type ComparedMetric, comparedNames } from '../../../web/pages/compare/answers.ts'
import { comparedTable, comparedWindow, metricPanels } from '../../../web/pages/compare/comparison-panels.ts'
import type { Detail } from '../../../web/pages/device/answers.ts'
import { freshMs } from '../../../web/pages/device/now-notes.ts'
import { readingsQuery, sourceOf } from '../../../web/pages/device/range-plan.ts'
import { calendarWeeks } from '../../../web/pages/device/reliability.ts'
import {
  daySeries,
  monthSeries,
  readingsSeries,
  suspectMetrics,
  suspectsIn,
  withLastValues,
} from '../../../web/pages/device/series.ts'
import { noPreferences, preferences } from '../../../web/text/preferences.ts'
import { builtInNames, builtInQuantities, quantitiesOf } from '../../../web/text/quantities.ts'
import { createTimes } from '../../../web/theme/times.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const none = { humidity: [], pressure: [], battery_voltage: [], battery_percentage: [] }
const d = '1970-01-01 00:00'
const hour = { t: 0, mean: 2, min: 1, max: 3, count: 60, d }
const detail: Detail = {
  device: 'porch',
  time_zone: 'UTC',
  generated_at: d,
  last_24h: {
    ...none,
    temperature: [
      { t: 1000, v: 1, d },
      { t: 2000, v: 2, d },
    ],
    gap_seconds: 150,
    downsampled: false,
  },
  last_30d_hourly: { ...none, temperature: [hour, { ...hour, t: 3 * hourMs }] },
}

t.test('the last day goes on with the readings that come, each once', async t => {
  const live = [
    { ts: 2000, values: { temperature: 2 } },
    { ts: 3000, values: { temperature: 3, humidity: 50 } },
  ]
  t.strictSame(daySeries(detail, builtInNames, live), [
    { kind: 'gauge', metric: 'temperature', timesMs: [1000, 2000, 3000], values: [1, 2, 3], gapMs: 150_000 },
    { kind: 'gauge', metric: 'humidity', timesMs: [3000], values: [50], gapMs: 150_000 },
  ])
  const irregular = { ...detail, last_24h: { ...detail.last_24h, gap_seconds: null } }
  t.equal(daySeries(irregular, builtInNames, [])[0]?.gapMs, null)
})

t.test('the last values are points of the day that later ones extend', async t => {
  const live = [
    { ts: 4000, values: { temperature: 4 } },
    { ts: 5000, values: { temperature: 5 } },
  ]
  const values = {
    temperature: { v: 3, ts: 3000, unit: '°C' },
    humidity: { v: 50, ts: 4000, unit: '%' },
    pressure: { v: 1000, ts: 400, unit: 'hPa' },
  }
  const series = daySeries(detail, builtInNames, withLastValues(live, values, { fromMs: 500, toMs: 9000 }))
  t.match(series, [
    { metric: 'temperature', timesMs: [1000, 2000, 3000, 4000, 5000], values: [1, 2, 3, 4, 5] },
    { metric: 'humidity', timesMs: [4000], values: [50] },
  ])
  t.equal(series.length, 2, 'what has no value is no line')
  const again = withLastValues(live, { temperature: { v: 5, ts: 5000, unit: '°C' } }, { fromMs: 500, toMs: 9000 })
  t.strictSame(daySeries(detail, builtInNames, again)[0]?.timesMs, [1000, 2000, 4000, 5000], 'each reading once')
})

t.test('means have extremes, and a gap at a missing one', async t => {
  const gauge = { kind: 'gauge', metric: 'temperature' }
  t.strictSame(monthSeries(detail, builtInNames), [
    {
      ...gauge,
      timesMs: [0, 3 * hourMs],
      values: [2, 2],
      extremes: { lows: [1, 1], highs: [3, 3] },
      gapMs: 1.5 * hourMs,
    },
  ])
  const rows = [
    { ts: 0, temperature_mean: 2, temperature_min: 1, temperature_max: 3, temperature_count: 4 },
    { ts: 60_000, temperature_count: 0 },
  ]
  const mean = { ...gauge, timesMs: [0], values: [2], extremes: { lows: [1], highs: [3] }, gapMs: 7_200_000 }
  t.strictSame(
    readingsSeries(rows, builtInNames, 60, () => 7_200_000),
    [mean],
  )
  const gapOf = (metric: string) => (metric === 'co2' ? 60_000 : null)
  t.strictSame(readingsSeries([{ ts: 5, pressure: 1000, co2: 400 }], ['pressure', 'co2'], undefined, gapOf), [
    { kind: 'gauge', metric: 'pressure', timesMs: [5], values: [1000], gapMs: null },
    { kind: 'gauge', metric: 'co2', timesMs: [5], values: [400], gapMs: 60_000 },
  ])
})

t.test('a range is read at the resolution of its pixels and at full steps', async t => {
  const nowMs = 20_000 * dayMs + 12_345
  t.strictSame(sourceOf({ preset: '24h' }, { fromMs: nowMs - dayMs, toMs: nowMs }, 60), { kind: 'day' })
  t.strictSame(sourceOf({ preset: '30d' }, { fromMs: nowMs - 30 * dayMs, toMs: nowMs }, 60), { kind: 'month' })
  const week = { fromMs: nowMs - 7 * dayMs, toMs: nowMs }
  t.match(sourceOf({ preset: '7d' }, week, 60), {
    stepSeconds: 900,
    window: { fromMs: 19_993 * dayMs, toMs: 20_000 * dayMs + 900_000 },
  })
  const hourly = sourceOf({ preset: '7d' }, week, 3600)
  t.match(hourly, { kind: 'readings', stepSeconds: undefined }, 'as it came')
  t.equal(readingsQuery({ fromMs: 1, toMs: 2 }, 60, 'json'), 'start=1&end=2&step=60&format=json')
  t.equal(readingsQuery({ fromMs: 1, toMs: 2 }, undefined, 'csv'), 'start=1&end=2&format=csv')
  t.match(readingsQuery({ fromMs: 1, toMs: 2 }, 60, 'json', ['a', 'b']), '&metrics=a,b')
})

t.test('up to which age a value is current', async t => {
  const regular = { cadence: 'regular', expected_interval_seconds: 60, gap_threshold_seconds: 150 } as const
  t.equal(freshMs('co2', regular, undefined), 120_000)
  t.equal(freshMs('co2', { ...regular, expected_interval_seconds: 10 }, undefined), 70_000)
  t.equal(freshMs('co2', undefined, undefined), 1_800_000)
  const irregular = { cadence: 'irregular', expected_interval_seconds: 1080, gap_threshold_seconds: 15_960 } as const
  t.equal(freshMs('co2', irregular, undefined), 15_960_000, 'the service has an irregular device as fresh up to G')
  const co2 = { title: 'CO₂', kind: 'gauge', unit: 'ppm', decimals: 0 } as const
  const gaps = (gap_seconds: number) => ({ last_24h: { gap_seconds: 150 }, metrics: { co2: { ...co2, gap_seconds } } })
  t.equal(freshMs('co2', regular, gaps(1500)), 1_500_000, 'what comes less often has gaps of its own')
  t.equal(freshMs('co2', regular, gaps(150)), 120_000)
  t.equal(freshMs('temperature', regular, gaps(1500)), 120_000)
})

t.test('weeks begin on Monday', async t => {
  const days = ['2026-11-21', '2026-11-22', '2026-11-23'].map(date => ({ date }))
  const [saturday, sunday, monday] = days
  const six = new Array(6).fill(undefined)
  t.strictSame(calendarWeeks(days), [
    [...new Array(5).fill(undefined), saturday, sunday],
    [monday, ...six],
  ])
  t.strictSame(calendarWeeks([]), [])
})

t.test('keys move the cursor from value to value', async t => {
  const key = (key: string, more = {}) =>
    keyAction({ key, shiftKey: false, ctrlKey: false, altKey: false, metaKey: false, ...more })
  t.strictSame(key('ArrowLeft'), { kind: 'step', points: -1 })
  t.strictSame(key('ArrowLeft', { shiftKey: true }), { kind: 'pan', share: -0.25 })
  t.strictSame(key('+', { shiftKey: true }), { kind: 'zoom', factor: 0.5 })
  t.equal(key('ArrowLeft', { ctrlKey: true }), undefined, 'of the browser')
  t.equal(key('Tab'), undefined)
  const times = [10, 20, 30, 40]
  const step = (points: number, atMs?: number) => moveCursor({ kind: 'step', points }, atMs, times)
  t.strictSame([step(-1), step(-1, 40), step(-1, 25), step(1, 25), step(1, 40), step(-1, 10)], [40, 30, 20, 30, 40, 10])
  t.equal(moveCursor({ kind: 'leap', share: -0.1 }, 40, times), 30, 'at least one value')
  t.equal(moveCursor({ kind: 'end', isLast: false }, 40, times), 10)
  t.equal(moveCursor({ kind: 'end', isLast: true }, undefined, []), undefined)
})

t.test('two devices are drawn over the same hours', async t => {
  const points = (...hours: number[]) => hours.map(at => ({ t: at * hourMs, v: at, d }))
  const stats = {} as ComparedMetric['stats']
  const metric: ComparedMetric = { unit: '°C', a: points(0, 1, 2, 9), b: points(0, 2), diff: points(0, 2), stats }
  t.strictSame(comparedWindow([metric], '24h'), { fromMs: -14 * hourMs, toMs: 10 * hourMs })
  t.equal(comparedWindow([{ ...metric, a: [], b: [] }], '7d'), undefined)
})

t.test('suspect readings are in their rows of the table if all are known', async t => {
  const nowMs = 100 * dayMs
  const point = (hoursAgo: number, flag?: 3) => ({ t: nowMs - hoursAgo * hourMs, v: hoursAgo, ...(flag && { flag }) })
  const measured = { temperature: [point(20, 3), point(5), point(2, 3)], humidity: [point(2, 3)], pressure: [point(2)] }
  const last_24h = { ...none, ...measured, gap_seconds: null }
  const detail = { time_zone: 'UTC', last_24h, last_30d_hourly: {} } as unknown as Detail
  const within = (fromHours: number, toHours: number) =>
    suspectsIn(detail, builtInNames, { fromMs: nowMs - fromHours * hourMs, toMs: nowMs - toHours * hourMs }, nowMs)
  t.strictSame(Object.fromEntries(within(24, 0)), {
    temperature: { timesMs: [nowMs - 20 * hourMs, nowMs - 2 * hourMs], values: [20, 2] },
    humidity: { timesMs: [nowMs - 2 * hourMs], values: [2] },
  })
  t.equal(within(19, 3).size, 0)
  t.equal(within(25, 0).size, 0, 'not a part of a longer time')
  t.equal(suspectsIn(undefined, builtInNames, { fromMs: nowMs, toMs: nowMs }, nowMs).size, 0)
  t.strictSame(
    [...suspectMetrics(within(24, 0))].join('; '),
    `${nowMs - 20 * hourMs},temperature; ${nowMs - 2 * hourMs},temperature,humidity`,
  )
  t.strictSame([...suspectMetrics(within(3, 0), 12 * hourMs)], [[nowMs - 12 * hourMs, ['temperature', 'humidity']]])
})

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

t.test('sentences on amounts, directions and states', async t => {
  const rain = { ...pair, quantity: quantities.of('rain_total') }
  t.match(
    plain(agreementSentences(rain, stats)),
    /^roof has 0\.5 mm more an hour than porch on average\. About 95 % .* −1\.0 and 2\.0 mm\./,
  )
  t.match(plain(agreementSentences(rain, { ...stats, bias: 0.01 })), /^roof and porch have the same on average\./)
  const wind = { ...pair, quantity: quantities.of('wind_direction') }
  const shown = (bias: number | null) =>
    plain(directionSentences(wind, { n: 5, bias, mae: 12.4, resultant_length: 0.9 }))
  t.equal(shown(20.2), 'roof points 20° clockwise of porch on average. The hourly directions are 12° apart on average.')
  t.match(shown(-20.2), /^roof points 20° anticlockwise of porch/)
  t.match(shown(0.2), /^roof and porch point the same way on average\./)
  t.match(shown(null), /^The differences go all ways alike\./)
  const none = { n: 0, bias: null, mae: null, resultant_length: null }
  t.match(plain(directionSentences(wind, none)), /^There is no hour in which both have a value\./)
  const sames = { known_seconds: 86_400, same_seconds: 43_200, same_share: 0.5 }
  t.equal(plain(stateSentences(sames)), 'Both were in the same state 50 % of the 1 day in which both are known.')
  t.match(plain(stateSentences({ known_seconds: 0, same_seconds: 0, same_share: null })), /no time/)
})

t.test('how two devices agree', async t => {
  const linked = { bias: 0.44, limits_of_agreement: [-1.2, 2.04], pearson: 0.97, p_value: 0.001 } as const
  const later = { lag_seconds: 3600, lag_r: 0.98, verdict: 'together', reason: null } as const
  const shown = (changes: Partial<Agreement>) =>
    plain(agreementSentences({ ...pair, quantity: temperature }, { ...stats, ...linked, ...later, ...changes }))
  t.equal(
    shown({}),
    'roof reads 0.4 °C more than porch on average. About 95 % of the hourly differences lie between −1.2 and 2.0 °C. ' +
      'The two rise and fall together very closely (correlation 0.97). porch follows roof by 1 hour.',
  )
  t.match(shown({ bias: -0.04 }), /^roof and porch read the same on average/)
  t.match(shown({ bias: -0.5, lag_seconds: -7200 }), /0.5 °C less than porch.*roof follows porch by 2 hours/)
  t.match(shown({ pearson: -0.8, verdict: 'no_link' }), /move against each other closely/)
  t.notMatch(shown({ pearson: -0.8, verdict: 'no_link' }), 'follows', 'what moves the other way an hour later')
  t.match(shown({ p_value: 0.3, verdict: 'no_link' }), /No clear link \(correlation 0\.97\)/)
  const few = { p_value: null, verdict: null, reason: 'too_few_independent' } as const
  t.match(shown(few), /It needs more hours to say whether they go together \(correlation 0\.97\)/)
  t.match(shown({ pearson: null, reason: 'constant' }), /One of the two does not vary/)
  t.equal(shown({ bias: null }), 'There is no hour in which both have a value.')
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

t.test('directions have the compass, less than 360°, and ° without a unit', async t => {
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

t.test('lines at two levels are drawn by their differences from their own means', async t => {
  const pressure = (low: number) => [low, low + 1, low + 2].map((value, hour) => point(hour, value))
  const of = { ...pair, quantity: builtInQuantities.of('pressure') }
  const compared = (b: number) => metricPanels(of, { a: pressure(1000), b: pressure(b), diff: [], stats })[0]
  const apart = compared(950)
  t.equal(apart?.title, 'Pressure minus each one’s own mean (1001.0 and 951.0)')
  t.strictSame(apart?.content.columns.lines, [
    [-1, 0, 1],
    [-1, 0, 1],
  ])
  t.strictSame(apart?.readouts[1]?.values, [950, 951, 952], 'the values are written as they are')
  const near = compared(997)
  t.equal(near?.title, 'Pressure')
  t.strictSame(near?.content.columns.lines[1], [997, 998, 999])
})

t.test('last, lowest and highest value of a window', async t => {
  const readout = { timesMs: [0, 1, 2, 3], values: [9, 1, 3, null] }
  const panel = { title: '', key: '', unit: '°C', decimals: 1, height: 1, readouts: [], reachMs: 0 } as never
  const window = { fromMs: 1, toMs: 3 }
  t.equal(plain([extremesText(panel, readout, window) ?? '']), 'last 3.0, lowest 1.0, highest 3.0 °C')
  t.equal(extremesText(panel, { ...readout, textAt: () => '' }, window), undefined)
  t.equal(extremesText(panel, readout, { fromMs: 3, toMs: 4 }), undefined)
})

t.test('a comparison of many metrics reads twelve until others are chosen', async t => {
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
