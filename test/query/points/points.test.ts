/** Points of a real QuestDB against the same rows in plain code. */

import fc from 'fast-check'
import tap, { test } from 'tap'
import type { Station } from '../../../query/analysed-device.ts'
import { type Columns, type Condition, type SortColumn, selectRows } from '../../../query/conditions/select-rows.ts'
import { createPoints, type PointPage, type Points } from '../../../query/points/points.ts'
import { createReplicas } from '../../../query/replicas.ts'
import { silentLog, type TestHooks } from '../../support/databases.ts'
import { startPointsQuestdb, type TestPoint } from '../../support/questdb-points.ts'
import { runs } from '../../support/runs.ts'

const minuteUs = 60_000_000
const startUs = Date.UTC(2025, 6, 1) * 1000
const year2000Us = Date.UTC(2000, 0, 1) * 1000
const client = new AbortController().signal
const all = Number.POSITIVE_INFINITY

const station: Station = {
  sn: 'D-1',
  timeZone: 'Asia/Kolkata',
  series: [
    { number: 7, parameter: 'pm25' },
    { number: 12, parameter: 'no2' },
    { number: 900, parameter: 'co' },
  ],
}
const other: Station = { ...station, sn: 'D-2', series: [{ number: 8, parameter: 'pm25' }] }

/** A point by the definition of the contract. */
interface Point {
  id: number
  sn: string
  parameter: string
  unit: string
  timestamp: string
  timestamp_local: string
  last_updated: string
  value_1min: number
  value_15min: number | null
  value_30min: number | null
  value_60min: number | null
  timeUs: number
  storedUs: number
}

function isoText(timeUs: number): string {
  const text = new Date(Math.floor(timeUs / 1000)).toISOString().slice(0, 19)
  const micros = timeUs % 1_000_000
  return micros === 0 ? text : `${text}.${String(micros).padStart(6, '0')}`
}

function meanOf(rows: readonly TestPoint[], point: TestPoint, minutes: number, needed: number): number | null {
  const inside = rows.filter(({ series, unit, timeUs }) => {
    const isSame = series === point.series && unit === point.unit
    return isSame && timeUs > point.timeUs - minutes * minuteUs && timeUs <= point.timeUs
  })
  inside.sort((a, b) => b.timeUs - a.timeUs)
  const distinct = new Set(inside.map(({ timeUs }) => Math.floor(timeUs / minuteUs)))
  return distinct.size < needed ? null : inside.reduce((sum, { value }) => sum + value, 0) / inside.length
}

/** `all` holds the points that count in the means. */
function pointsOf({ sn, series }: Station, rows: readonly TestPoint[], all = rows): Point[] {
  return rows.flatMap(row => {
    const parameter = series.find(({ number }) => number === row.series)?.parameter
    if (parameter === undefined) return []
    const { timeUs, storedUs, unit, value } = row
    return [
      {
        id: ((timeUs - year2000Us) / 1_000_000) * 2 ** 21 + row.series,
        sn,
        parameter,
        unit,
        timestamp: isoText(timeUs),
        timestamp_local: `${isoText(timeUs + 330 * minuteUs)}+05:30`,
        last_updated: isoText(storedUs),
        value_1min: value,
        value_15min: meanOf(all, row, 15, 12),
        value_30min: meanOf(all, row, 30, 23),
        value_60min: meanOf(all, row, 60, 45),
        timeUs,
        storedUs,
      },
    ]
  })
}

const stored = ['id', 'sn', 'parameter', 'unit', 'timestamp', 'timestamp_local', 'last_updated', 'value_1min'] as const
const means = ['value_15min', 'value_30min', 'value_60min'] as const

const columns: Columns<Point> = {
  id: { type: 'number', value: point => point.id },
  sn: { type: 'text', value: point => point.sn },
  parameter: { type: 'text', value: point => point.parameter },
  unit: { type: 'text', value: point => point.unit },
  timestamp: { type: 'time', value: point => point.timeUs, text: point => point.timestamp },
  timestamp_local: { type: 'time', value: point => point.timeUs, text: point => point.timestamp_local },
  last_updated: { type: 'time', value: point => point.storedUs, text: point => point.last_updated },
  value_1min: { type: 'number', value: point => point.value_1min },
  value_15min: { type: 'number', value: point => point.value_15min },
  value_30min: { type: 'number', value: point => point.value_30min },
  value_60min: { type: 'number', value: point => point.value_60min },
}

function shown({ timeUs: _, storedUs: __, ...fields }: Point) {
  return fields
}

/** Minutes of readings with holes, some between the minutes or twice, in two units, and values that hardly differ. */
function testRows(): TestPoint[] {
  let state = 20_261_122
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state / 2 ** 32
  }
  const chance = (share: number) => random() < share
  const pointAt = (minute: number, series: number): TestPoint => {
    const timeUs = startUs + minute * minuteUs + (chance(0.1) ? Math.floor(random() * 60) * 1_000_000 : 0)
    const value = Math.round(random() * 20) / 10 + (chance(0.3) ? 1e-12 : 0)
    const storedUs = timeUs + Math.floor(random() * 3) * 1_500_000 + (chance(0.5) ? 0 : 7)
    return { timeUs, series, value, unit: minute % 150 < 70 || series === 7 ? 'ppb' : 'ugm3', storedUs }
  }
  const minutes = [0, 1435, 4000].flatMap(first => Array.from({ length: 150 }, (_, index) => first + index))
  const numbers = [...station.series, ...other.series].map(({ number }) => number)
  const once = minutes.flatMap(minute => numbers.filter(() => !chance(0.12)).map(series => pointAt(minute, series)))
  // Some minutes have two points of a series.
  const again = once.filter(({ timeUs }) => timeUs % minuteUs === 0 && chance(0.1))
  return [...once, ...again.map(point => ({ ...point, timeUs: point.timeUs + minuteUs / 2, value: point.value + 1 }))]
}

const rows = testRows()

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const byId: SortColumn[] = [{ column: 'id', direction: 'asc' }]

const expectedPoints = pointsOf(station, rows)

/** The expected page, or an error code. */
function expectedPage({ conditions, order, limit, page, perPage }: PointPage) {
  const found = selectRows(columns, conditions, order, expectedPoints)
  const total = Math.min(found.length, limit)
  const offset = (page - 1) * perPage
  if (page > 1 && offset >= total) return 'PAGE_UNKNOWN'
  return { total, points: found.slice(offset, Math.min(offset + perPage, total)).map(shown) }
}

function someValue(column: string): fc.Arbitrary<string | number> {
  const point = fc.constantFrom(...expectedPoints)
  return point.chain((found): fc.Arbitrary<string | number> => {
    const value = columns[column]?.value(found) ?? 1
    if (typeof value === 'string') return fc.constantFrom(value, value.slice(1), `${value}x`, '')
    const beside = column === 'value_1min' ? [1e-12, -0.05, 1e-6] : [1, -1, 0.5, minuteUs]
    const whole = column !== 'value_1min' && column !== 'id'
    return fc.constantFrom(
      value as number,
      ...beside.map(by => (whole ? Math.round(Number(value) + by) : Number(value) + by)),
    )
  })
}

const patterns: Record<string, string[]> = {
  parameter: ['pm%', '%o%', '_o', '%'],
  sn: ['D-_', 'd%', '%'],
  unit: ['pp_', '%3'],
}

function conditionOf(column: string): fc.Arbitrary<Condition> {
  const value = someValue(column)
  const comparison = fc.constantFrom('eq', 'ne', 'lt', 'gt', 'le', 'ge')
  const one = fc.record({ column: fc.constant(column), operator: comparison, values: fc.tuple(value) })
  const several = fc.array(value, { minLength: 1, maxLength: 4 }).map(values => {
    return { column, operator: 'in' as const, values: values as unknown as Condition['values'] }
  })
  const texts = patterns[column] ?? ['%1%', '2025-07-0_T0%', '%+05:30', '0._', '%']
  const like = fc.constantFrom(...texts).map((text): Condition => ({ column, operator: 'like', values: [text] }))
  return fc.oneof(
    { weight: 6, arbitrary: one },
    { weight: 2, arbitrary: several },
    { weight: 1, arbitrary: like },
  ) as fc.Arbitrary<Condition>
}

function orderOf(names: readonly string[]): fc.Arbitrary<SortColumn[]> {
  const direction = fc.constantFrom('asc' as const, 'desc' as const)
  const column = fc.record({ column: fc.constantFrom(...names), direction })
  return fc.uniqueArray(column, { maxLength: 3, selector: found => found.column }).map(found => {
    return found.some(({ column }) => column === 'id') ? found : [...found, ...byId]
  })
}

const paging = {
  limit: fc.oneof(fc.constant(all), fc.integer({ min: 1, max: 300 })),
  page: fc.integer({ min: 1, max: 4 }),
}
const perPage = fc.constantFrom(1, 7, 50, 400)

const storedList: fc.Arbitrary<PointPage> = fc.record({
  station: fc.constant(station),
  conditions: fc.array(fc.constantFrom(...stored).chain(conditionOf), { maxLength: 3 }),
  order: orderOf(stored),
  ...paging,
  perPage,
})

const withinUs = (fromUs: number, toUs: number): Condition[] => [
  { column: 'timestamp', operator: 'ge', values: [fromUs] },
  { column: 'timestamp', operator: 'lt', values: [toUs] },
]

const meanList: fc.Arbitrary<PointPage> = fc.record({
  station: fc.constant(station),
  conditions: fc
    .tuple(
      fc.array(fc.constantFrom(...stored, ...means).chain(conditionOf), { maxLength: 2 }),
      fc.integer({ min: 0, max: 4000 }),
    )
    .map(([some, minute]) => [...some, ...withinUs(startUs + minute * minuteUs, startUs + 4100 * minuteUs)]),
  order: orderOf([...stored, ...means]),
  ...paging,
  perPage,
})

const questdb = await startPointsQuestdb(tap)
// Rows of one time are inserted in another order than their numbers.
await questdb.write(rows.toReversed())
const { points } = revised(tap)

async function pageOf(asked: PointPage) {
  const answer = await points.page(asked, client)
  if (!answer.ok) return answer.code
  return { total: answer.total, points: JSON.parse(`[${decode(answer.points)}]`) }
}

for (const [name, lists, series] of [
  ['stored columns', storedList, runs(40, 250)],
  ['running means', meanList, runs(12, 60)],
] as const) {
  test(`random filters, orders and pages on ${name} equal plain code`, async t => {
    await fc.assert(
      fc.asyncProperty(lists, async asked => {
        const words = JSON.stringify({ ...asked, station: undefined })
        t.strictSame(await pageOf(asked), expectedPage(asked), words)
        t.strictSame(await pageOf(asked), expectedPage(asked), `again: ${words}`)
        return t.passing()
      }),
      { ...series, endOnFailure: true },
    )
  })
}

const byIdOf = (conditions: Condition[] = []) => ({ station, conditions, order: byId, limit: all })

async function linesOf(asked: Omit<PointPage, 'page' | 'perPage'>, format: 'csv' | 'ndjson') {
  const answer = await points.lines(asked, format, client)
  if (!answer.ok) return answer.code
  let text = ''
  for await (const piece of answer.pieces) text += decode(piece)
  return text
}

/** A column of CSV has one form of times, whereas an object leaves out a fraction of zero. */
function csvField([column, value]: [string, unknown]): string {
  const text = String(value ?? '')
  return column === 'last_updated' && !text.includes('.') ? `${text}.000000` : text
}

test('lines are the rows of all pages', async t => {
  const expected = expectedPage({ ...byIdOf(), page: 1, perPage: 10_000 }) as { points: object[] }
  const order = (column: string, direction: 'asc' | 'desc'): SortColumn[] => [{ column, direction }, ...byId]
  const below: Condition[] = [{ column: 'value_1min', operator: 'lt', values: [0.5] }]
  for (const asked of [
    byIdOf(),
    byIdOf(below),
    { ...byIdOf(), order: order('timestamp', 'desc') },
    { ...byIdOf(), order: order('value_1min', 'desc') },
    { ...byIdOf(withinUs(startUs, startUs + 1440 * minuteUs)), order: order('value_60min', 'desc') },
  ]) {
    const page = expectedPage({ ...asked, page: 1, perPage: 10_000 }) as { points: object[] }
    const lines = String(await linesOf(asked, 'ndjson'))
      .split('\n')
      .slice(0, -1)
    t.strictSame(JSON.parse(`[${lines}]`), page.points)
  }
  const csv = String(await linesOf(byIdOf(), 'csv')).split('\r\n')
  t.equal(csv[0], Object.keys(expected.points[0] ?? {}).join())
  const rowsOfCsv = expected.points.map(point => Object.entries(point).map(csvField).join())
  t.strictSame(csv.slice(1, -1), rowsOfCsv)
  const none: Condition[] = [{ column: 'parameter', operator: 'eq', values: ['so2'] }]
  t.equal(await linesOf(byIdOf(none), 'ndjson'), '')
})

test('single point and newest point equal points of the list', async t => {
  const jsonOf = async (answer: ReturnType<Points['point']>) => {
    const found = await answer
    return found.ok ? decode(found.point) : found.code
  }
  for (const point of expectedPoints.filter((_, index) => index % 97 === 0)) {
    t.strictSame(JSON.parse(await jsonOf(points.point(station, point.id, client))), shown(point))
  }
  const [some] = expectedPoints as [Point]
  for (const id of [some.id + 2 ** 21 * 86_400 * 9, some.id + 1, 0, -5, 0.5, 1e300]) {
    t.equal(await jsonOf(points.point(station, id, client)), '', String(id))
  }
  t.equal(await jsonOf(points.point(other, some.id, client)), '', 'the point of another station')
  const last = expectedPoints.toSorted((a, b) => a.id - b.id).at(-1) as Point
  t.strictSame(JSON.parse(await jsonOf(points.latest(station, client))), shown(last))
  t.equal(await jsonOf(points.latest({ ...station, series: [{ number: 77, parameter: 'co' }] }, client)), '')
  t.equal(await jsonOf(points.latest({ ...station, series: [] }, client)), '')
})

test('more points than the main thread reads', async t => {
  const dense: TestPoint[] = Array.from({ length: 3600 }, (_, second) => {
    const timeUs = startUs + 30_000 * minuteUs + second * 1_000_000
    return { timeUs, series: 5000, value: second % 7, unit: 'ppb', storedUs: timeUs }
  })
  await questdb.write(dense)
  const denseStation: Station = { ...station, series: [{ number: 5000, parameter: 'co' }] }
  const [last] = pointsOf(denseStation, dense.slice(-1), dense) as [Point]
  const expected = shown(last)
  for (const answer of [await points.point(denseStation, last.id, client), await points.latest(denseStation, client)]) {
    t.strictSame(answer.ok && JSON.parse(decode(answer.point)), expected)
  }
})

test('a running mean needs bounds of the time, at most 31 days apart', async t => {
  const codeOf = async (conditions: Condition[], order = byId) => {
    const answer = await points.page({ ...byIdOf(conditions), order, page: 1, perPage: 1 }, client)
    return answer.ok ? 'ok' : answer.code
  }
  const mean: Condition = { column: 'value_15min', operator: 'gt', values: [1] }
  const byMean: SortColumn[] = [{ column: 'value_60min', direction: 'asc' }, ...byId]
  const ofDays = (us: number) => withinUs(startUs, startUs + us) as [Condition, Condition]
  const [from, to] = ofDays(31 * 1440 * minuteUs)
  for (const conditions of [[mean], [mean, from], [mean, to], [mean, ...ofDays(31 * 1440 * minuteUs + 2)]]) {
    t.equal(await codeOf(conditions), 'MEAN_UNBOUNDED')
  }
  t.equal(await codeOf([], byMean), 'MEAN_UNBOUNDED')
  t.strictSame([await codeOf([mean, from, to]), await codeOf([from, to], byMean)], ['ok', 'ok'])
  t.equal(await codeOf([mean, { column: 'timestamp', operator: 'eq', values: [startUs] }]), 'ok')
})

/** Points that are read again after a new revision. */
function revised(t: TestHooks) {
  const revision = { number: 0 }
  const points = createPoints({
    replicas: createReplicas([{ address: questdb.address }]),
    revision: () => revision.number,
    log: silentLog,
  })
  t.teardown(() => points.close())
  return { points, revision }
}

test('the newest point changes with the revision and falls back when a point is lost', async t => {
  await questdb.clear()
  const { points, revision } = revised(t)
  const at = (minute: number) => startUs + minute * minuteUs
  const newestIs = async (minute: number | undefined, text = '') => {
    const answer = await points.latest(station, client)
    if (!answer.ok) throw new Error(answer.code)
    const { timestamp } = JSON.parse(decode(answer.point) || '{}')
    t.equal(timestamp, minute === undefined ? minute : isoText(at(minute)), text)
  }
  const write = (minute: number) =>
    questdb.write([{ timeUs: at(minute), series: 7, value: 1, unit: 'ppb', storedUs: at(minute) }])
  await newestIs(undefined)
  await write(10)
  await newestIs(10, 'that there is none is not remembered')
  await write(20)
  await newestIs(10, 'the same revision')
  revision.number++
  await newestIs(20)
  await questdb.clear()
  await write(5)
  revision.number++
  await newestIs(5)
})

test('a walk returns every row once while newer rows arrive and late ones change the means', async t => {
  await questdb.clear()
  const { points, revision } = revised(t)
  const write = async (written: readonly TestPoint[]) => {
    await questdb.write(written)
    revision.number++
  }
  const ours = rows.filter(({ series }) => series !== 8)
  await write(ours)
  const newest: SortColumn[] = [{ column: 'timestamp', direction: 'desc' }, ...byId]
  const ids: number[] = []
  let conditions: Condition[] = []
  let total = Number.POSITIVE_INFINITY
  for (let page = 1; ids.length < total; page++) {
    const answer = await points.page({ station, conditions, order: newest, limit: all, page, perPage: 100 }, client)
    if (!answer.ok) throw new Error(answer.code)
    total = answer.total
    conditions = [{ column: 'id', operator: 'le', values: [answer.lastId ?? 0] }]
    ids.push(...JSON.parse(`[${decode(answer.points)}]`).map(({ id }: Point) => id))
    const timeUs = startUs + (9000 + page) * minuteUs
    await write([{ timeUs, series: 12, value: 1, unit: 'ppb', storedUs: timeUs }])
  }
  const expected = selectRows(columns, [], newest, pointsOf(station, ours))
  t.equal(ids.join(), expected.map(({ id }) => id).join())
  const without = await points.page({ station, conditions: [], order: newest, limit: all, page: 1, perPage: 1 }, client)
  t.ok(without.ok && without.total > total, 'the newer ones are there')

  const minutes = Array.from({ length: 15 }, (_, minute) => startUs + (20_000 + minute) * minuteUs)
  const complete = minutes.map(timeUs => ({ timeUs, series: 7, value: 3, unit: 'ppb', storedUs: timeUs }))
  const meanAt = async (timeUs: number) => {
    const answer = await points.point(station, ((timeUs - year2000Us) / 1e6) * 2 ** 21 + 7, client)
    return answer.ok ? JSON.parse(decode(answer.point)).value_15min : answer.code
  }
  await write(complete.filter((_, index) => index >= 4))
  t.equal(await meanAt(minutes[14] as number), null, 'eleven of fifteen minutes')
  await write(complete.slice(0, 1).map(point => ({ ...point, value: 15 })))
  t.equal(await meanAt(minutes[14] as number), 4, 'with a late one')
})
