/** Metrics of each kind on the device page: bars, directions, timelines, tables and sentences. */

import { readFileSync } from 'node:fs'
import t from 'tap'
import type { KindBucket, WindowFigures } from '../../../query/shapes/kinds.ts'
import type { NormalValues } from '../../../query/shapes/normal.ts'
import type { PastDays } from '../../../query/shapes/past.ts'
import { edgeColour, wordColour } from '../../../web/charts/colours.ts'
import { valueAt } from '../../../web/charts/line-data.ts'
import { type Detail, measuredDevice } from '../../../web/pages/device/answers.ts'
import { amountOfDay, daysAmountText } from '../../../web/pages/device/day-amounts.ts'
import { dayAmountSentences, kindSentences } from '../../../web/pages/device/kind-sentences.ts'
import { amountsOfDays, amountsOfHours, amountsOfSteps } from '../../../web/pages/device/kind-series.ts'
import { kindTables } from '../../../web/pages/device/kind-tables.ts'
import { nowNotes, stateSpanMs, usualText } from '../../../web/pages/device/now-notes.ts'
import { panelOf } from '../../../web/pages/device/panels.ts'
import { pastTable } from '../../../web/pages/device/past-tables.ts'
import { amountSourceOf, planOf, pointSourceOf } from '../../../web/pages/device/range-plan.ts'
import { rangeSeries } from '../../../web/pages/device/range-series.ts'
import { readingsTables } from '../../../web/pages/device/readings-tables.ts'
import type { MetricSeries } from '../../../web/pages/device/series.ts'
import { askedMetrics, metricsOfDevice, numberedStates } from '../../../web/pages/device/shown-metrics.ts'
import { statesOfDay, statesOfDays, statesOfSteps, timeline } from '../../../web/pages/device/state-series.ts'
import { compassPoint, directionText, isSwitch, stateColour, stateInWords } from '../../../web/text/kind-words.ts'
import { builtInQuantities, chooseMetrics, quantitiesOf, shownMax, withNumbered } from '../../../web/text/quantities.ts'
import { createZone, localMs } from '../../../web/text/zone.ts'
import { createTimes } from '../../../web/theme/times.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const d = '2026-06-01 00:00'
const utc = createZone('UTC')
const times = createTimes('UTC')
const plain = (text: string) => text.replaceAll('\u202f', ' ')
const nowMs = Date.UTC(2026, 5, 2)
const described = {
  energy: { title: 'Energy', kind: 'counter', unit: 'kWh', decimals: 1 },
  rain: { title: 'Rain', kind: 'rate', unit: 'mm', decimals: 1 },
  wind_direction: { title: 'Wind direction', kind: 'direction', unit: '°', decimals: 0 },
  door: { title: 'Door open', kind: 'state', unit: null, decimals: 0 },
  mode: { title: 'Mode', kind: 'state', unit: null, decimals: 0 },
} as const
const quantities = quantitiesOf(described)
/** The mode has been 2, whatever it is in view. */
const numbered = withNumbered(quantities, ['mode'])

const counter = (increase: number | null, unplaced_increase = 0) =>
  ({ kind: 'counter', count: 6, increase, unplaced_increase, resets: 0 }) as KindBucket
const state = (states: readonly (readonly [number, number])[], unknown_seconds = 0): KindBucket => {
  const known_seconds = states.reduce((sum, [, seconds]) => sum + seconds, 0)
  const shares = states.map(([state, seconds]) => ({ state, seconds, share: seconds / known_seconds }))
  return {
    kind: 'state',
    states: shares,
    known_seconds,
    unknown_seconds,
    known_share: null,
    changes: shares.length - 1,
  }
}
const detailWith = (hours: object, points: object = {}): Detail =>
  ({
    time_zone: 'UTC',
    last_24h: { temperature: [], ...points, gap_seconds: 150 },
    last_30d_hourly: { temperature: [], ...hours },
    metrics: {
      door: { ...described.door, gap_seconds: 604_800, hold_seconds: 604_800 },
      mode: { ...described.mode, gap_seconds: 150, hold_seconds: 60 },
    },
  }) as unknown as Detail
const at = (hour: number, figures: KindBucket) => ({ ...figures, t: nowMs + hour * hourMs, d })

const planFor = (more: Omit<Parameters<typeof planOf>[0], 'of' | 'nowMs' | 'expectedSeconds'>) =>
  planOf({ of: measuredDevice('a b'), nowMs, expectedSeconds: 60, ...more })

/** Such as `0–20 off`, by the length of a unit after a moment. */
const spans = (blocks: readonly { fromMs: number; toMs: number; state: number }[], fromMs = 0, unitMs = 1) =>
  blocks
    .map(({ state, ...block }) => [...[block.fromMs, block.toMs].map(ms => (ms - fromMs) / unitMs), state])
    .map(([one, other, state]) => `${one} to ${other}: ${state}`)
    .join(', ')

t.test('directions and states in words', async t => {
  t.strictSame([0, 11.2, 11.3, 348.8, 359.9, 180].map(compassPoint), ['N', 'N', 'NNE', 'N', 'N', 'S'])
  t.strictSame([directionText(359.7), directionText(243.04, 1)], ['N 0°', 'WSW 243.0°'])
  t.equal([-90, 630, -0.2, -360].map(degrees => directionText(degrees)).join(), 'W 270°,W 270°,N 0°,N 0°')
  const door = quantities.of('door')
  t.strictSame([isSwitch([0, 1, 0], door), isSwitch([], door), isSwitch([0, 2], door)], [true, true, false])
  t.notOk(isSwitch([0, 1], numbered.of('mode')), 'of a metric that has had other states')
  t.strictSame([stateInWords(1, true), stateInWords(0, true), stateInWords(3, false)], ['on (1)', 'off (0)', 'state 3'])
})

t.test('a local minute is a moment', async t => {
  const berlin = createZone('Europe/Berlin')
  t.equal(localMs(berlin, '2026-06-01 12:30'), Date.UTC(2026, 5, 1, 10, 30))
  t.equal(localMs(berlin, '2026-03-29 01:30'), Date.UTC(2026, 2, 29, 0, 30), 'before the clocks change')
  t.equal(localMs(berlin, '2026-03-29 03:00'), Date.UTC(2026, 2, 29, 1), 'as they change')
  t.equal(localMs(utc, '2026-01-01 00:00'), Date.UTC(2026, 0, 1))
})

t.test('amounts are by the hour, in long ranges by the local day, and of others in steps', async t => {
  const span = (spanMs: number, endMs = nowMs) => amountSourceOf({ fromMs: endMs - spanMs, toMs: endMs }, nowMs, 60)
  t.strictSame(span(dayMs), { kind: 'hours' })
  t.strictSame(span(7 * dayMs), { kind: 'hours' })
  t.strictSame(span(30 * dayMs), { kind: 'days', days: 31 })
  t.strictSame(span(365 * dayMs), { kind: 'days', days: 366 })
  t.match(span(2 * hourMs), { kind: 'steps', stepSeconds: 120 })
  t.match(span(dayMs, nowMs - 90 * dayMs), { kind: 'steps', stepSeconds: 900 })
  t.match(span(30 * dayMs, nowMs - 400 * dayMs), { kind: 'steps', stepSeconds: 43_200 })
  const slow = amountSourceOf({ fromMs: nowMs - 2 * hourMs, toMs: nowMs }, nowMs, 600)
  t.match(slow, { kind: 'steps', stepSeconds: 1800 }, 'no bar of less than two readings')
  const points = (spanMs: number) => pointSourceOf({ fromMs: nowMs - spanMs, toMs: nowMs }, nowMs, 60)
  t.strictSame([points(2 * hourMs).kind, points(dayMs).kind, points(7 * dayMs).kind], ['points', 'points', 'hours'])
})

t.test('a request fits its metrics and reads states from as far back as they hold', async t => {
  const metrics = [
    { name: 'temperature', kind: 'gauge' },
    { name: 'energy', kind: 'counter' },
    { name: 'door', kind: 'state' },
    { name: 'wind_direction', kind: 'direction' },
  ] as const
  const plan = (spanMs: number, endMs: number) => {
    const window = { fromMs: endMs - spanMs, toMs: endMs }
    return planFor({ window, range: window, metrics, described: detailWith({}).metrics })
  }
  const endMs = nowMs - 100 * dayMs
  const old = plan(2 * hourMs, endMs)
  t.match(old.gaugePath, /^readings\/a%20b\?.*&metrics=temperature$/)
  t.match(old.stepsPath, /step=120&format=json&metrics=energy,wind_direction$/)
  t.match(old.statesPath, new RegExp(`start=${endMs - 2 * hourMs - 7 * dayMs}&end=${endMs}&.*metrics=door$`))
  t.equal(old.daysPath, undefined)
  const month = plan(30 * dayMs, nowMs)
  t.equal(month.daysPath, 'daily_summary/a%20b?days=31&metrics=energy,door,wind_direction')
  t.strictSame([month.stepsPath, month.statesPath], [undefined, undefined])
  const short = plan(2 * hourMs, nowMs)
  t.match(short.stepsPath, /metrics=energy$/, 'points of the last day are known')
  t.equal(short.statesPath, undefined)
})

t.test('bars include increases during a gap', async t => {
  const detail = detailWith({ energy: [at(-3, counter(1)), at(-2, counter(null, 5)), at(-1, counter(null))] })
  t.strictSame(amountsOfHours(detail, 'energy', 'counter').bars, [
    { fromMs: nowMs - 3 * hourMs, toMs: nowMs - 2 * hourMs, value: 1, ofGap: 0 },
    { fromMs: nowMs - 2 * hourMs, toMs: nowMs - hourMs, value: 5, ofGap: 5 },
  ])
  const rows = [
    { ts: 0, energy_count: 2, energy_increase: 0.5, energy_last: 900 },
    { ts: 60_000, temperature_mean: 3 },
  ]
  const ofStep = { fromMs: 0, toMs: 60_000, value: 0.5, ofGap: 0 }
  t.strictSame(amountsOfSteps(rows, 'energy', 'counter', 60).bars, [ofStep], 'never the total')
  const day = { date: '2026-03-29', hours: 23, rain: { kind: 'rate', sum: 4 } } as never
  const [bar] = amountsOfDays([day], 'rain', 'rate', createZone('Europe/Berlin')).bars
  const ofDay = { fromMs: Date.UTC(2026, 2, 28, 23), toMs: Date.UTC(2026, 2, 29, 22), value: 4, ofGap: 0 }
  t.strictSame(bar, ofDay, 'a day of 23 hours')
})

t.test('a state holds until the next value, in a gap for as long as is known', async t => {
  const gap = { gapMs: 30, holdMs: 12 }
  const blocks = timeline({ timesMs: [0, 10, 20, 100], values: [0, 0, 1, 1] }, gap, 110)
  t.equal(spans(blocks), '0 to 20: 0, 20 to 32: 1, 100 to 110: 1')
  t.strictSame(timeline({ timesMs: [5], values: [1] }, gap, 5), [], 'no time has passed')
  t.match(timeline({ timesMs: [0], values: [1] }, gap, 1000), [{ toMs: 12 }], 'a gap goes on')
})

t.test("a timeline begins with the earlier hours' state and continues with readings", async t => {
  const off = [-30, -24, -23].map(hour => at(hour, state([[0, 3600]])))
  const changing = [[0, 1200] as const, [1, 2400] as const]
  const door = [...off, at(-22, state(changing)), at(-21, state([[1, 3600]]))]
  const changeMs = nowMs - 22 * hourMs + 1_200_000
  const detail = detailWith({ door }, { door: [{ t: changeMs, v: 1, d }] })
  const live = [{ ts: nowMs - 1000, values: { door: 0 } }]
  const { blocks } = statesOfDay(detail, 'door', live, { fromMs: nowMs - 23.5 * hourMs, untilMs: nowMs })
  t.equal(spans(blocks, nowMs, 60_000), `-1410 to -1300: 0, -1300 to ${-1 / 60}: 1, ${-1 / 60} to 0: 0`)
  const known = detailWith({ door: [-2, -1].map(hour => at(hour, state([[1, 3600]]))) })
  const quiet = statesOfDay(known, 'door', [], { fromMs: nowMs - dayMs, untilMs: nowMs })
  t.equal(spans(quiet.blocks, nowMs, hourMs), '-2 to 0: 1', 'no value in the day: what is known of its hours')
})

t.test('shares of a day are stacked without the unknown part', async t => {
  const known = [[1, 6 * 3600] as const, [0, 12 * 3600] as const]
  const day = { date: '2026-06-01', hours: 24, door: state(known, 6 * 3600) } as never
  const { blocks, isShares } = statesOfDays([day], 'door', utc)
  t.ok(isShares)
  t.match(blocks, [
    { state: 0, low: 0, high: 0.5 },
    { state: 1, low: 0.5, high: 0.75 },
  ])
  const rows = [1, 0].map((door_last, place) => ({ ts: 100 * place, door_last }))
  const steps = statesOfSteps(rows, 'door', 100, { gapMs: 1000, holdMs: 1000 }, { fromMs: 50, untilMs: 200 })
  t.equal(spans(steps.blocks), '0 to 100: 1, 100 to 200: 0')
})

t.test('a state in buckets goes on to the next one, however close its values came', async t => {
  const stepMs = 900_000
  const rows = [0, 1, 2, 6].map(place => ({ ts: place * stepMs, mode_last: place === 2 ? 3 : 1 }))
  const hold = { gapMs: 150_000, holdMs: 60_000 }
  const steps = statesOfSteps(rows, 'mode', stepMs, hold, { fromMs: 0, untilMs: 10 * stepMs })
  t.equal(spans(steps.blocks, 0, stepMs), '0 to 2: 1, 2 to 3: 3, 6 to 7: 1')
  const on = statesOfSteps(rows, 'mode', stepMs, { gapMs: null, holdMs: 60_000 }, { fromMs: 0, untilMs: 8 * stepMs })
  t.match(on.blocks.at(-1), { toMs: 8 * stepMs }, 'without an expected interval nothing is a gap')
})

const context = { times, suspects: undefined, stepMs: undefined }
const energy: MetricSeries = {
  kind: 'counter',
  metric: 'energy',
  bars: [
    { fromMs: nowMs - 2 * hourMs, toMs: nowMs - hourMs, value: 1.25, ofGap: 0 },
    { fromMs: nowMs - hourMs, toMs: nowMs, value: 3, ofGap: 2 },
  ],
}
const seconds = [nowMs - 2000, nowMs - 1000]
const wind: MetricSeries = {
  kind: 'direction',
  metric: 'wind_direction',
  timesMs: seconds,
  values: [350, 10],
  stepMs: undefined,
}
const door: MetricSeries = {
  kind: 'state',
  metric: 'door',
  isShares: false,
  blocks: [
    { fromMs: nowMs - 3 * hourMs, toMs: nowMs - 2 * hourMs, state: 1, low: 0, high: 1 },
    { fromMs: nowMs - hourMs, toMs: nowMs, state: 0, low: 0, high: 1 },
  ],
}

t.test('a panel describes its kind at the cursor', async t => {
  const sentence = (series: MetricSeries, atMs: number) => {
    const text = panelOf(series, { ...context, quantity: quantities.of(series.metric) }).readouts[0]?.textAt?.(atMs)
    return text == null ? text : plain(text)
  }
  t.equal(sentence(energy, nowMs - 1.5 * hourMs), '1.3 kWh (22:00–23:00)')
  t.equal(sentence(energy, nowMs - 1), '3.0 kWh, including 2.0 kWh in a gap before (23:00–00:00)')
  t.equal(sentence(energy, nowMs - 3 * hourMs), null)
  t.equal(sentence(wind, nowMs), 'N 10°')
  t.equal(sentence(wind, nowMs - 2 * hourMs), null)
  t.equal(sentence(door, nowMs - 2.5 * hourMs), 'on (21:00–22:00)')
  t.equal(sentence(door, nowMs - 1.5 * hourMs), null, 'unknown')
  const shares = { ...door, isShares: true, blocks: door.blocks.map(block => ({ ...block, high: 0.25 })) }
  t.equal(sentence(shares, nowMs - 1), 'off 25 % (23:00–00:00)')
  const content = panelOf(wind, { ...context, quantity: quantities.of('wind_direction') }).content
  t.match(content, { lines: [{ width: 0, points: 'all' }], range: [0, 360] }, 'nothing joins 350° and 10°')
  const beyond = panelOf({ ...wind, values: [-90, 370] }, { ...context, quantity: quantities.of('wind_direction') })
  t.strictSame(beyond.content.columns.lines, [[270, 10]], 'as the analyses take it')
  t.equal(valueAt({ timesMs: [1, 5], values: [7, null] }, 2, 1), 7)
  t.equal(valueAt({ timesMs: [1, 5], values: [7, null] }, 4, 1), null)
})

t.test('tables by kind', async t => {
  const window = { fromMs: nowMs - dayMs, toMs: nowMs }
  const tables = readingsTables({ series: [energy, wind, door] }, new Map(), { quantities, times, window })
  const cells = tables.flatMap(({ rows }) => rows.map(row => plain([row.head, ...row.cells].join(' | '))))
  t.strictSame(cells, [
    '1 Jun 2026, 23:59:59 UTC | N 10°',
    '1 Jun 2026, 23:59:58 UTC | N 350°',
    '1 Jun 2026, 23:00–00:00 | 3.0 kWh, including 2.0 kWh in a gap before',
    '1 Jun 2026, 22:00–23:00 | 1.25',
    '1 Jun 2026, 23:00:00 UTC | 2 Jun 2026, 00:00:00 UTC | off | 1 hour',
    '1 Jun 2026, 21:00:00 UTC | 1 Jun 2026, 22:00:00 UTC | on | 1 hour',
  ])
})

t.test('a range has its kinds in the order of the metrics, without empty ones', async t => {
  const window = { fromMs: nowMs - dayMs, toMs: nowMs }
  const kinds = { door: 'state', energy: 'counter', temperature: 'gauge', rain: 'rate' } as const
  const metrics = Object.entries(kinds).map(([name, kind]) => ({ name, kind }))
  const hours = { energy: [at(-2, counter(1))], rain: [at(-100, counter(1))] }
  const detail = detailWith(hours, { door: [{ t: nowMs - 1, v: 1, d }] })
  const plan = planFor({ range: { preset: '24h' }, window, metrics, described: detail.metrics })
  const none = { gauges: 'unneeded', steps: 'unneeded', states: 'unneeded', days: 'unneeded' } as const
  const of = { plan, detail, parts: none, live: [], metrics, window, zone: utc }
  t.strictSame(
    rangeSeries(of)?.series.map(({ metric }) => metric),
    ['door', 'energy'],
  )
  t.equal(rangeSeries({ ...of, parts: { ...none, days: undefined } }), undefined, 'an answer is on its way')
  t.equal(rangeSeries({ ...of, detail: undefined }), undefined)
})

t.test('states contrast with the ground, and words with states, in light and dark', async t => {
  const css = readFileSync(new URL('../../../web/theme/base.css', import.meta.url), 'utf8')
  const [light = '', dark = ''] = css.split('prefers-color-scheme: dark')
  for (const [scheme, text] of Object.entries({ light, dark })) {
    const colour = (name: string) => new RegExp(`${name}: #([0-9a-f]+);`).exec(text)?.[1] ?? ''
    for (let state = 0; state < 8; state++) {
      const fill = stateColour(state)
      const [ground, edge] = [contrast(colour('--card'), colour(edgeColour(fill))), edgeColour(fill)]
      t.ok(ground >= 3, `${scheme}, state ${state}: ${edge} on the ground ${ground}`)
      const word = contrast(colour(fill), colour(wordColour(fill)))
      t.ok(word >= 4.5, `${scheme}, state ${state}: its word ${word}`)
    }
  }
})

/** WCAG 2.2, contrast ratio and relative luminance, of colours such as `fff` and `1e1b29`. */
function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

function luminance(hex: string): number {
  const long = hex.length === 3 ? hex.replaceAll(/./g, '$&$&') : hex
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map(at => {
    const part = Number.parseInt(long.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

t.test('a page of many metrics shows twelve until others are chosen', async t => {
  const names = Array.from({ length: 20 }, (_, place) => `m${place}`)
  t.strictSame(chooseMetrics(names, null), names.slice(0, shownMax))
  t.strictSame(chooseMetrics(names, 'm19,gone,m2'), ['m2', 'm19'], 'in the order of the device')
  t.strictSame(chooseMetrics(names, 'gone'), names.slice(0, shownMax))
  const latest = (count: number) => {
    const values = Object.fromEntries(names.slice(0, count).map(name => [name, { v: 1, ts: 1, unit: '' }]))
    return { values: { temperature: { v: 1, ts: 1, unit: '°C' }, ...values } } as never
  }
  t.equal(askedMetrics(latest(11), 'm1'), undefined, 'every request has the same answer')
  t.equal(askedMetrics(latest(12), null), names.slice(0, 11).join(','), 'the five are there anyway')
  t.equal(askedMetrics(latest(20), 'm3'), 'm3')
  t.equal(askedMetrics(latest(20), 'temperature'), 'temperature')
  t.equal(askedMetrics(undefined, null), undefined)
  const value = { v: 1, ts: 1, unit: '' }
  const detail = detailWith({ humidity: [{ t: 0 }] })
  const found = metricsOfDevice({ co2: value, temperature: value }, detail, { co2: 0, old: 0 } as never)
  t.equal(found.join(), 'co2,temperature,humidity,old')
})

const direction = {
  kind: 'direction',
  mean_degrees: 3.2,
  resultant_length: 0.75,
  circular_std_degrees: 40,
  vector: { count: 80, mean_speed: 2, vector_speed: 1, vector_direction_degrees: 359.8, steadiness: 0.5 },
  rose: { sector_counts: [50, ...new Array(15).fill(2)], count: 100, calm_count: 20, calm_share: 0.2 },
  count: 100,
} as unknown as WindowFigures
const window = (of: Exclude<KindBucket, { kind: 'counter' | 'direction' | 'rate' }>): WindowFigures => ({
  ...of,
  count: 15,
  last: 0,
  last_change: { at: '2026-06-01 20:30', from: 1, to: 0 },
})
const doorStates = state([
  [0, 259_200],
  [1, 11_520],
]) as Extract<KindBucket, { kind: 'state' }>
const doorFigures = window({ ...doorStates, changes: 14 })

t.test('totals of kinds as sentences', async t => {
  const says = (figures: WindowFigures, metric: string) =>
    plain(kindSentences(figures, quantities.of(metric), { during: 'in the last 3 days', isTruncated: false }).join(' '))
  const reset = { after: '2026-06-01 12:00', until: '2026-06-01 12:10', value_before: 120.2, value_after: 0.1 }
  const increase = { increase: 12.4, increase_per_day: 4.13, span_seconds: 260_000 }
  const grown: WindowFigures = { kind: 'counter', count: 400, last: 7, ...increase, resets: [reset], resets_total: 1 }
  t.equal(
    says(grown, 'energy'),
    'Energy has grown by 12.4 kWh in the last 3 days, 4.1 kWh a day. It started again once between 1 Jun 2026, 12:00 and 12:10, after 120.2 kWh.',
  )
  t.match(says({ ...grown, resets_total: 3 }, 'energy'), /started again 3 times, the last time between 1 Jun/)
  t.equal(
    says({ ...grown, increase: null, count: 1, resets: [] }, 'energy'),
    'There is only one value in the last 3 days, so its increase is not known.',
  )
  t.equal(
    says(direction, 'wind_direction'),
    'On average wind direction is N 3°, and varies little (resultant length 0.75). Most often it is N: 50 % of the values. It is calm in 20 % of them. Weighted by its speed it is N 0°, with a steadiness of 50 %.',
  )
  t.match(
    says({ ...direction, mean_degrees: null } as WindowFigures, 'wind_direction'),
    /has no mean: its values cancel out/,
  )
  t.equal(
    says(doorFigures, 'door'),
    'In the last 3 days, door open was off (0) for 3 days (96 %) and on (1) for 3 hours 12 minutes (4 %). It changed 14 times, last from on (1) to off (0) on 1 Jun 2026, 20:30.',
  )
  t.match(says({ ...doorFigures, changes: 0 } as WindowFigures, 'door'), /It has not changed\.$/)
  const statesOf = (count: number) => Array.from({ length: count }, (_, state) => ({ state, seconds: 60, share: 0.1 }))
  t.match(says({ ...doorFigures, states: statesOf(8) } as WindowFigures, 'door'), / \(10 %\) and 2 others\./)
  const greatest_hour = { sum: 8.2, start: '2026-06-01 14:00', end: '2026-06-01 15:00' }
  const rain = { kind: 'rate', count: 288, sum: 12.4, coverage: 0.98, greatest_hour } as WindowFigures
  t.equal(
    says(rain, 'rain'),
    'Rain sums up to 12.4 mm in the last 3 days, from 98 % of the expected values. The most in an hour was 8.2 mm, from 1 Jun 2026, 14:00 to 15:00.',
  )
  t.equal(says({ ...rain, count: 0 }, 'rain'), 'There is no value in the last 3 days.')
})

t.test('figures in tables: resets, sectors, states', async t => {
  const [figures, sectors] = kindTables(direction, quantities.of('wind_direction'))
  t.match(figures?.rows[1], { head: 'Mean direction', cells: ['N 3°'] })
  t.match(sectors?.rows[0], { head: 'N', cells: [50, '50\u202f%'] })
  t.equal(sectors?.rows.length, 16)
  const [states] = kindTables(doorFigures, quantities.of('door'))
  t.match(states?.rows[1], { head: 'on', cells: [1, '3 hours 12 minutes'] })
})

const pastDay = (hours: object[]) => ({ date: '2026-06-01', offset_days: 0, hours }) as never
const rainy = [1, 2.2].map((sum, at) => ({ hour: 13 + at, d, rain: { kind: 'rate', sum } }))
const past = {
  today: pastDay([...rainy, { hour: 15, d }]),
  yesterday: pastDay([{ hour: 3, d, rain: { kind: 'rate', sum: 0 } }]),
  ...Object.fromEntries(['7d', '30d', '365d'].map(name => [name, pastDay([])])),
} as unknown as PastDays

t.test('totals of today and yesterday', async t => {
  t.equal(
    plain(dayAmountSentences(past, 'rain', quantities.of('rain')).join(' ')),
    'Today so far 3.2 mm, the most between 14:00 and 15:00. Yesterday 0.0 mm.',
  )
  t.strictSame(dayAmountSentences(past, 'energy', quantities.of('energy')), [])
})

t.test('an increase over a gap that ended today belongs to no hour and no day', async t => {
  const [before, after] = [
    { hour: 14, d, energy: counter(1, 80) },
    { hour: 15, d, energy: counter(2.2) },
  ]
  const grown = {
    ...past,
    today: pastDay([before, after]),
    yesterday: pastDay([{ hour: 3, d, energy: counter(null, 5) }]),
  }
  const energy = quantities.of('energy')
  t.equal(
    plain(dayAmountSentences(grown, 'energy', energy).join(' ')),
    'Today so far 3.2 kWh, the most between 15:00 and 16:00, and 80.0 kWh in a gap that ended today. 5.0 kWh in a gap that ended yesterday.',
  )
  const values = { energy: { v: 900, ts: nowMs, unit: '' } }
  const of = { live: [], detail: undefined, stats: undefined, past: grown, quantities, zone: utc }
  const note = nowNotes({ ...of, values, lastKnown: values }).get('energy')
  t.match(note, { kind: 'today', placed: 3.2, ofGap: 80 })
  const [today, yesterday] = [grown.today, grown.yesterday].map(day => amountOfDay(day, 'energy'))
  t.equal(today?.hours.map(({ amount }) => amount).join(), '1,2.2', 'the bars')
  t.equal(
    plain(daysAmountText(today, yesterday, energy)),
    'today 3.2 kWh, and 80.0 kWh in a gap that ended today; 5.0 kWh in a gap that ended yesterday',
  )
  const { rows } = pastTable(grown, { name: 'energy', kind: 'counter' }, energy)
  const cells = [3, 14, 15].map(hour => rows[hour]?.cells.slice(0, 2))
  t.strictSame(cells, [
    [null, '5.0\u202fkWh, including 5.0\u202fkWh in a gap before'],
    ['81.0\u202fkWh, including 80.0\u202fkWh in a gap before', null],
    [2.2, null],
  ])
})

t.test("current values have the start of their state and the day's total", async t => {
  const value = (v: number) => ({ v, ts: nowMs, unit: '' })
  const stats = { aggregates: { door: doorFigures } } as never
  const of = { live: [], detail: detailWith({}), stats, past, quantities, zone: utc }
  const values = { door: value(0), mode: value(3), rain: value(0.2), energy: value(900), wind_direction: value(7) }
  const notes = nowNotes({ ...of, values, lastKnown: values })
  const sinceMs = Date.UTC(2026, 5, 1, 20, 30)
  t.strictSame(notes.get('door'), { kind: 'state', sinceMs, holdMs: 604_800_000 })
  t.match(notes.get('mode'), { sinceMs: undefined, holdMs: 150_000 })
  const span = (metric: string, ageMs: number) => stateSpanMs(notes.get(metric), nowMs, nowMs + ageMs)
  t.equal(span('door', 7 * dayMs), nowMs + 7 * dayMs - sinceMs)
  t.equal(span('door', 7 * dayMs + 1), undefined, 'unknown afterwards')
  t.strictSame([span('mode', 0), span('rain', 0), span('energy', 0)], [undefined, undefined, undefined])
  t.match(notes.get('rain'), { kind: 'today', placed: 3.2, ofGap: 0 })
  t.notOk(notes.has('energy') || notes.has('wind_direction'))
  const live = [
    { ts: nowMs + 1000, values: { rain: 1 } },
    { ts: nowMs + 2000, values: { door: 1 } },
    { ts: nowMs + 3000, values: { door: 1 } },
  ]
  const later = nowNotes({ ...of, live, values: { ...values, door: value(1) }, lastKnown: values })
  t.match(later.get('door'), { sinceMs: nowMs + 2000 }, 'a change that has just come')
  const unlike = nowNotes({ ...of, values: { door: value(1) }, lastKnown: { door: value(1) } })
  t.match(unlike.get('door'), { sinceMs: undefined }, 'statistics of before the change say nothing of it')
})

t.test('a state with values other than on and off is shown as a number everywhere', async t => {
  const modeFigures = { ...doorFigures, states: [{ state: 3, seconds: 60, share: 1 }] } as WindowFigures
  const none = { values: {}, detail: undefined, stats: undefined }
  const names = (of: object) => numberedStates({ ...none, ...of }, described)
  t.strictSame(names({}), [])
  t.strictSame(names({ values: { mode: { v: 2, ts: 0, unit: '' }, door: { v: 1, ts: 0, unit: '' } } }), ['mode'])
  t.strictSame(names({ stats: { aggregates: { mode: modeFigures, door: doorFigures } } }), ['mode'])
  t.strictSame(names({ detail: detailWith({ mode: [at(-700, state([[2, 60]])), at(-2, state([[1, 60]]))] }) }), [
    'mode',
  ])
  const quantity = numbered.of('mode')
  const mode = { ...door, metric: 'mode' }
  const panel = panelOf(mode, { ...context, quantity })
  t.match(panel, { keys: [{ label: '0' }, { label: '1' }], content: { blocks: [{ text: '1' }, { text: '0' }] } })
  t.equal(panel.readouts[0]?.textAt?.(nowMs - 1), '0 (23:00–00:00)')
  const tablesContext = { quantities: numbered, times, window: { fromMs: nowMs - dayMs, toMs: nowMs } }
  const tables = (isShares: boolean) => readingsTables({ series: [{ ...mode, isShares }] }, new Map(), tablesContext)
  t.match(tables(false), [{ rows: [{ cells: [String, '0'] }, { cells: [String, '1'] }] }])
  t.match(tables(true), [{ columns: [{ name: '0' }, { name: '1' }] }])
  const today = pastDay([{ hour: 13, d, mode: state([[1, 3600]]) }])
  const cells = pastTable({ ...past, today } as PastDays, { name: 'mode', kind: 'state' }, quantity).rows[13]?.cells
  t.equal(cells?.[0], '1 1 hour')
  const sentence = kindSentences(doorFigures, quantity, { during: 'in the last 3 days', isTruncated: false }).join(' ')
  t.match(sentence, /mode was state 0 for .* from state 1 to state 0/)
  t.equal(kindTables(doorFigures, quantity)[0]?.rows[1]?.head, '1')
})

t.test('values outside the middle four fifths of the days have a count of days', async t => {
  const sentence = (percentile: number, daysEqual = 0) => {
    const daysLower = Math.round((percentile / 100) * 29 - daysEqual / 2)
    return usualText({ kind: 'usual', percentile, days: 29, daysLower, daysEqual, isWithin: false })
  }
  t.equal(sentence(89), 'last full hour: usual')
  t.equal(sentence(93.1), 'last full hour: higher than on 27 of 29 days')
  t.equal(sentence((100 * 1.5) / 29, 3), 'last full hour: lower than on 26 of 29 days', 'on three it was the same')
  t.equal(sentence(3.4), 'last full hour: lower than on 28 of 29 days')
})

t.test('a value that is displayed as the usual one is not called lower', async t => {
  const counts = { days: 42, days_lower: 0, days_equal: 0 }
  const hour = { status: 'ok', reason: null, at: '2026-11-27 02:00', percentile: 0, ...counts, basis: 'hour' } as const
  const sentence = (value: number, metric = 'temperature') => {
    const normal = { [metric]: { ...hour, value, low: 12, median: 12, high: 12 } } as unknown as NormalValues
    const ts = Date.UTC(2026, 10, 27, 2, 20)
    const of = { values: { [metric]: { v: value, ts, unit: '°C' } }, live: [], lastKnown: {}, zone: utc }
    const none = { detail: undefined, stats: undefined, past: undefined }
    const note = nowNotes({ ...of, ...none, normal, quantities: builtInQuantities }).get(metric)
    return note?.kind === 'usual' ? usualText(note) : undefined
  }
  t.equal(sentence(11.98), 'last full hour: usual')
  t.equal(sentence(11.9), 'last full hour: lower than on 42 of 42 days')
  t.equal(sentence(11.9, 'battery_voltage'), undefined, 'a battery is lower than ever as long as it lasts')
})
