/** Insights of a fleet from daily means, without a database: kinds of batteries, bounds, and omitted devices. */

import t from 'tap'
import { type CellType, voltageOf } from '../../analytics/battery/curves.ts'
import { createLocalTime } from '../../analytics/time/local-time.ts'
import { batteryMetrics, columnBatteries } from '../../query/answers/fleet-batteries.ts'
import { fleetMeansSql, fleetParts, MeansTable, stretchesUntil } from '../../query/answers/fleet-reads.ts'
import { beginningOf } from '../../query/answers/fleet-standing.ts'
import { buildInsights, comparedQuarters, outliersOf } from '../../query/answers/insights-answer.ts'
import { bodyOf, encodeText } from '../../query/cache/body.ts'
import { createBodyCache } from '../../query/cache/body-cache.ts'
import { type Built, createResponseCache } from '../../query/cache/response-cache.ts'
import { batteryDays } from '../../query/findings/known-battery.ts'
import { createSetKey } from '../../query/fleet.ts'
import { createInsights } from '../../query/insights.ts'
import type { FleetKnown } from '../../query/insights-fleet.ts'
import { defaultLimits, type QueryLimits } from '../../query/limits.ts'
import { allFromReadings, type HourSources } from '../../query/questdb/hourly-sql.ts'
import { createReplicas } from '../../query/replicas.ts'
import { Insights } from '../../query/shapes/insights.ts'
import { expiredHoursTable, hourlyView, readingsTable } from '../../store/tables.ts'
import { validated } from '../support/answer-shapes.ts'
import { silentLog } from '../support/databases.ts'
import { nothingKnown, plainEntry } from '../support/plain-device.ts'

interface MadeDevice {
  readonly charge?: (day: number) => number | undefined
  readonly voltage?: (day: number) => number | undefined
  readonly type?: CellType
  /** Temperatures by quarter of the last day. All days before it have 20. */
  readonly temperature?: number | readonly (number | undefined)[]
}

function insightsOf(devices: Record<string, MadeDevice>, silent: FleetKnown['silent'] = []): Insights {
  const made = Object.values(devices)
  const batteries = new MeansTable(made.length, batteryDays, batteryMetrics.length)
  const quarters = new MeansTable(made.length, comparedQuarters, 1)
  for (const [place, device] of made.entries()) {
    addBattery(batteries, place, device)
    addTemperature(quarters, place, device)
  }
  const fleet = Object.entries(devices).map(([name, { type = null }]) => ({ ...plainEntry(name), batteryType: type }))
  const outliers = outliersOf(fleet, 'temperature', quarters, 0)
  const known = { ...nothingKnown, silent }
  const of = { fleet, known, standing: [], generatedAtMs: 1, local: createLocalTime('UTC') }
  return validated(Insights, buildInsights({ ...of, batteries: columnBatteries(fleet, batteries), outliers }))
}

function addBattery(table: MeansTable, place: number, { charge, voltage }: MadeDevice): void {
  for (let day = 0; day < batteryDays; day++) {
    for (const [metric, value] of [charge?.(day), voltage?.(day)].entries()) {
      // Each of the two tables has a part of the day.
      if (value !== undefined) for (const part of [value - 1, value + 1]) table.add(place, day, metric, part, 1)
    }
  }
}

function addTemperature(table: MeansTable, place: number, { temperature }: MadeDevice): void {
  for (let quarter = 0; quarter < comparedQuarters; quarter++) {
    const ofLastDay = quarter - comparedQuarters + 4
    const value = ofLastDay < 0 ? 20 : typeof temperature === 'number' ? temperature : temperature?.[ofLastDay]
    if (value !== undefined) table.add(place, quarter, 0, (1 + (quarter % 4)) * value, 1 + (quarter % 4))
  }
}

t.test('the battery that ends soonest is first, by the worse of charge and voltage', async t => {
  const { batteries, batteries_total } = insightsOf({
    coin: { type: 'coin', voltage: day => voltageOf('coin', 80 - 2 * day) },
    untyped: { voltage: day => 4 - day / 40 },
    both: { type: 'li-ion', charge: day => 60 - day, voltage: () => 3.8 },
    sooner: { type: 'li-ion', charge: day => 99 - day, voltage: day => voltageOf('li-ion', 90 - 2 * day) },
    free: { charge: day => 60 - day },
    level: { type: 'li-ion', charge: () => 50, voltage: () => 3.8 },
    far: { type: 'li-ion', charge: day => 90 - day / 2 },
    silent: { type: 'li-ion', charge: day => (day < 28 ? 60 - day : undefined) },
    yesterday: { type: 'li-ion', charge: day => (day < 29 ? 60 - day : undefined) },
    none: {},
    rising: { type: 'li-ion', charge: day => 20 + day },
    unknownDays: { type: 'li-ion', charge: day => (day % 5 === 0 ? 60 - day : undefined) },
    gaps: { type: 'li-ion', charge: day => (day % 3 === 2 ? undefined : 70 - day) },
  })
  const found = batteries.map(({ device, metric, days_left }) => [device, metric, days_left])
  t.strictSame(found, [
    ['coin', 'battery_voltage', 10.5],
    ['sooner', 'battery_voltage', 15.5],
    ['both', 'battery_percentage', 30.5],
    ['yesterday', 'battery_percentage', 30.5],
    ['gaps', 'battery_percentage', 40.5],
  ])
  t.equal(batteries_total, 5)
  t.match(batteries[2], { percent_per_day: -1, low: 12.5, high: 33.5 })
})

t.test('a silent device has a finding of its low battery without an estimate of days', async t => {
  const falling = { type: 'li-ion' as const, charge: (day: number) => 50 - day }
  const silent = [0, 1].map(place => ({ place, state: 'stale' as const, lastMs: 0 }))
  const made = { gone: falling, empty: { charge: () => 4 }, here: falling }
  const { batteries, batteries_total, batteries_low, findings } = insightsOf(made, silent)
  t.strictSame(batteries_low, ['empty'])
  t.strictSame([batteries.map(({ device }) => device), batteries_total], [['here'], 1])
  const ofBatteries = findings.filter(({ code }) => code.startsWith('battery'))
  const codes = ofBatteries.map(({ code, device }) => `${code} ${device}`).sort()
  t.strictSame(codes, ['battery_days here', 'battery_level empty'])
})

t.test('the least similar device is first, unless it differs by less than the accuracy of sensors', async t => {
  const usual = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`n${at}`, { temperature: 20 + at / 100 }]))
  const unusual = { near: { temperature: 21 }, cold: { temperature: -8 }, warm: { temperature: 30 } }
  const { outliers } = insightsOf({ ...usual, ...unusual })
  t.strictSame(outliers.map(({ device, score }) => `${device} ${Math.sign(score)}`).join(), 'cold -1,warm 1')
  t.match(outliers[0], { metric: 'temperature', value: -8, median: 20 })
})

t.test('the only device of a fleet has no neighbours to be unlike', async t => {
  const { outliers, findings } = insightsOf({ cellar: { temperature: 13.8 } })
  t.match(outliers, [{ device: 'cellar', value: 13.8, median: 20, peers: 0 }])
  t.match(findings, [
    { code: 'drift', device: 'cellar', count: 0, text: 'Temperature has changed: 13.8 °C, expected 20.0 °C' },
  ])
})

t.test('who has no value in a quarter of the day is not compared', async t => {
  const fleet = (temperatures: readonly (number | undefined)[]) => ({
    ...Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`n${at}`, { temperature: 20 + at / 10 }])),
    half: { temperature: temperatures },
  })
  t.strictSame(insightsOf(fleet([5, 5, undefined, undefined])).outliers, [])
  // Quarters have equal weight, independent of how many of their hours have values.
  t.match(insightsOf(fleet([5, 5, 6, 8])).outliers, [{ device: 'half', value: 6, median: 20 }])
})

t.test('nothing is reported when the whole fleet has changed, or of an empty fleet', async t => {
  const fleet = (temperatures: number[]) =>
    insightsOf(Object.fromEntries(temperatures.map((temperature, at) => [`d${at}`, { temperature }])))
  t.strictSame(fleet([1, 2, 3, 4, 5, 6, 90]).outliers, [])
  t.match(fleet([20, 20, 20, 20, 20, 20, 20, 90]).outliers, [{ device: 'd7', value: 90 }])
  const changed = fleet([...Array.from({ length: 30 }, () => 20), 26, 25, 24, 23])
  t.strictSame([changed.outliers.map(({ device }) => device), changed.outliers_total], [['d30', 'd31', 'd32'], 4])
  const totals = { findings_total: 0, batteries_total: 0, outliers_total: 0, gauges_left_out: 0 }
  t.strictSame(insightsOf({}), {
    generated_at: 1,
    findings: [],
    batteries: [],
    batteries_low: [],
    outliers: [],
    ...totals,
  })
})

t.test('a low battery is a finding where a date cannot be estimated', async t => {
  const { batteries, findings } = insightsOf({
    untyped: { voltage: day => (day < 28 ? 3.9 : 3.6) },
    mapped: { charge: () => 30, voltage: day => (day < 20 ? 2.9 : 2.3) },
    empty: { charge: () => 4 },
    typed: { type: 'coin', voltage: () => 2.4 },
    full: { type: 'coin', voltage: () => 2.95 },
  })
  t.strictSame(batteries, [])
  const found = findings.map(({ device, code, severity, metric, value }) => [device, code, severity, metric, value])
  t.strictSame(found, [
    ['empty', 'battery_level', 'critical', 'battery_percentage', 4],
    ['untyped', 'battery_level', 'warning', 'battery_voltage', 3.6],
    ['mapped', 'battery_level', 'warning', 'battery_voltage', 2.3],
    ['typed', 'battery_level', 'warning', 'battery_voltage', 2.4],
  ])
})

t.test('all are counted while at most 200 are listed', async t => {
  const falling = { type: 'li-ion' as const, charge: (day: number) => 60 - day }
  const many = Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`d${at}`, falling]))
  const { batteries, batteries_total } = insightsOf(many)
  t.strictSame([batteries.length, batteries_total], [200, 250])
})

t.test('stretches end at their bounds and share no hour of two tables', async t => {
  t.strictSame(stretchesUntil(100, 10, 3), [
    { fromUs: 70, toUs: 80 },
    { fromUs: 80, toUs: 90 },
    { fromUs: 90, toUs: 100 },
  ])
  const hourUs = 3_600_000_000
  const tables = (expiredBefore: number, rawFrom: number) => {
    const sources = { expiredBeforeUs: expiredBefore * hourUs, rawFromUs: rawFrom * hourUs }
    const parts = fleetParts({ fromUs: 0, toUs: 24 * hourUs }, sources)
    return parts.map(({ table, fromUs, toUs }) => `${table} ${fromUs / hourUs} ${toUs / hourUs}`)
  }
  const [never, always] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  t.strictSame(tables(never, always), [`${hourlyView} 0 24`])
  t.strictSame(tables(never, never), [`${readingsTable} 0 24`])
  t.strictSame(tables(50, never), [`${expiredHoursTable} 0 24`])
  const expired = `${expiredHoursTable} 0 5`
  t.strictSame(tables(5, 20.9), [expired, `${hourlyView} 5 20`, `${readingsTable} 20 24`])
  t.strictSame(tables(5, 2), [expired, `${readingsTable} 5 24`])
  const part = { table: hourlyView, fromUs: 30, toUs: 100 }
  t.match(fleetMeansSql(['humidity'], part), /FROM readings_1h WHERE ts >= 30 AND ts < 100/)
})

const minuteMs = 60_000
const ofFleet = { tags: [], battery_type: null, battery_cells: null, quality_limits: null }
const device = { number: 1, symbol: 'd-1', name: 'd', location_short: '', ...ofFleet }

/** The test sets the clock of the cached answer. `asked` counts requests to a thread, which returns `built`. */
const nowhere = { http: {}, pg: {} } as never

function cachedInsights(more: Partial<HourSources> = {}, limits: Partial<QueryLimits> = {}) {
  const made = {
    nowMs: 1e12,
    asked: 0,
    built: { ok: true, body: body('1') } as Built,
    devices: [device],
    lastSources: allFromReadings as HourSources,
    narrowed: [] as boolean[],
  }
  const allLimits = { ...defaultLimits, ...limits }
  const cache = createBodyCache(allLimits.cacheBytesMax)
  const hourSources = () => ({ ...allFromReadings, rawFromUs: 0, ...more })
  const replicas = createReplicas([{ address: nowhere, hourSources }])
  const insights = createInsights({
    runAnalysis: async (_name, queryOf) => {
      const query = queryOf(replicas.hourSources())
      made.asked++
      if ('hourSources' in query) made.lastSources = query.hourSources
      if ('narrowed' in query) made.narrowed.push(query.narrowed)
      return made.built
    },
    serve: createResponseCache({ cache, now: () => made.nowMs, limits: allLimits, log: silentLog }),
    setKey: createSetKey(),
    known: { gaugesOf: () => [], silenceOf: () => undefined },
    replicas,
    limits: allLimits,
  })
  const ask = async () => {
    const answer = await insights.all(() => made.devices)
    return answer.ok ? answer.body.bytes.toString() : answer.code
  }
  const askOf = async (...numbers: number[]) => {
    const devices = numbers.map(number => ({ ...device, number }))
    const answer = await insights.of(devices, new AbortController().signal)
    return answer.ok ? answer.body.bytes.toString() : answer.code
  }
  return { made, ask, askOf }
}

const body = (text: string) => bodyOf(encodeText(text, 100))

t.test('it is made every ten minutes, for all who ask', async t => {
  const { made, ask } = cachedInsights()
  t.strictSame(await Promise.all([ask(), ask(), ask()]), ['1', '1', '1'])
  made.nowMs += 9 * minuteMs
  t.equal(await ask(), '1')
  t.equal(made.asked, 1)
  made.nowMs += minuteMs
  made.built = { ok: true, body: body('2') }
  t.equal(await ask(), '1', 'served while the next one is made')
  t.equal(await ask(), '2')
  t.equal(made.asked, 2)
})

t.test('insights of some devices are cached by the set of devices', async t => {
  const { made, ask, askOf } = cachedInsights()
  await ask()
  const answered = []
  for (const [place, numbers] of [[1, 2], [1], [2, 1], [], [3]].entries()) {
    made.built = { ok: true, body: body(`${place + 2}`) }
    answered.push(await askOf(...numbers))
  }
  t.strictSame(answered, ['2', '3', '2', '5', '6'], 'in whatever order')
  t.equal(await ask(), '1')
  await askOf(...Array.from({ length: 501 }, (_, index) => index))
  t.strictSame(made.narrowed, [false, true, true, true, true, false], 'too many are not named one by one')
  made.built = { ok: false, code: 'TIMED_OUT' }
  t.strictSame([await askOf(8), await askOf(8)], ['TIMED_OUT', 'TIMED_OUT'])
  const { asked } = made
  made.built = { ok: true, body: body('7') }
  t.equal(await askOf(9), '7', 'it was a computation of others that took too long')
  t.equal(made.asked, asked + 1)
})

t.test('without the view, hours of a small fleet come from its readings while a large fleet is refused', async t => {
  const withoutView = { rawFromUs: Number.NEGATIVE_INFINITY }
  const small = cachedInsights(withoutView, { insightsRawDevicesMax: 1 })
  t.equal(await small.ask(), '1')
  t.match(small.made.lastSources, withoutView)
  const large = cachedInsights(withoutView, { insightsRawDevicesMax: 0 })
  t.equal(await large.ask(), 'DATABASE_AWAY')
  t.equal(large.made.asked, 0)
  const lagging = cachedInsights({ rawFromUs: 5 }, { insightsRawDevicesMax: 0 })
  await lagging.ask()
  t.match(lagging.made.lastSources, { rawFromUs: Number.POSITIVE_INFINITY }, 'what the view has')
})

t.test('a build that exceeds its time limit is retried every ten minutes', async t => {
  const { made, ask } = cachedInsights()
  made.built = { ok: false, code: 'TIMED_OUT' }
  t.equal(await ask(), 'TIMED_OUT')
  made.nowMs += 9 * minuteMs
  t.equal(await ask(), 'TIMED_OUT')
  t.equal(made.asked, 1)
  made.nowMs += minuteMs
  made.built = { ok: true, body: body('1') }
  t.equal(await ask(), '1')
})

t.test('a fleet that is too large is refused before anything is read', async t => {
  const { made, ask } = cachedInsights({}, { insightsDevicesMax: 2 })
  made.devices = [device, device, device]
  t.equal(await ask(), 'TOO_LARGE')
  t.equal(made.asked, 0)
})

t.test('a gauge stands from the first reading on that is as near to the others as a flat line is', async t => {
  const lowest = { 1: 73, 2: 74.4, 3: 74.2, 4: 74.6, 5: 74.6 }
  const highest = { 1: 74.4, 2: 74.4, 3: 74.6, 4: 74.6, 5: 74.6 }
  const rows = ([5, 4, 1, 2, 3] as const).map(hour => [hour, lowest[hour], highest[hour]] as const)
  t.equal(beginningOf(rows, 74.6, 1), 2)
  t.equal(beginningOf(rows, 74.6, 0.3), 4, 'a spread of 0.4 is too large')
  t.equal(beginningOf(rows, 74.6, 0), 4, 'equal ones alone')
  t.equal(beginningOf([], 74.6, 1), undefined, 'expired')
})
