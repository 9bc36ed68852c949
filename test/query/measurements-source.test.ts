/** Values of series from a real QuestDB, by both protocols. */

import t, { test } from 'tap'
import { customSamples } from '../../query/kinds/custom-samples.ts'
import { createValuesSource } from '../../query/questdb/measurements-source.ts'
import { createColumnsReader } from '../../query/questdb/questdb-export.ts'
import { measurementValues } from '../../query/questdb/values-table.ts'
import type { QuestdbHttp } from '../../store/questdb/client/questdb-address.ts'
import { createPgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { startCustomReadings } from '../support/custom-readings.ts'

const world = await startCustomReadings(t)
const { address } = world.store.questdb
const nowhere: QuestdbHttp = { host: '127.0.0.1', port: 1, tls: false, authorization: undefined }
const never = new AbortController().signal
const minuteMs = 60_000
const startMs = Date.UTC(2026, 2, 1)

function sourceAt(http: QuestdbHttp) {
  const settings = { questdb: { http, pg: address.pg }, connectTimeoutMs: 600_000, statementTimeoutMs: 600_000 }
  const connection = createPgConnection(settings.questdb.pg, settings)
  const reader = createColumnsReader(settings, connection)
  const source = createValuesSource(reader, connection, measurementValues)
  t.teardown(() => connection.close())
  t.teardown(() => reader.close())
  return source
}

const sources = [sourceAt(address.http), sourceAt(nowhere)]
const porch = await world.addDevice('porch')
const other = await world.addDevice('other')
await world.send(other, [[startMs, { co2: 9000 }]])
await world.send(porch, [
  [startMs, { temperature: 20, co2: 400, door: 1 }],
  [startMs + minuteMs, { temperature: 21, co2: 410 }],
  [startMs + 2 * minuteMs, { co2: 450, door: 0 }],
  [startMs + 90 * minuteMs, { co2: 500 }],
])
// The second reading replaces the first, without the value.
await world.send(porch, [[startMs + minuteMs, { temperature: 21 }]])
await world.applied()

const seriesOf = (name: string) => {
  const metric = world.metrics.get(name)
  const number = metric === undefined ? undefined : world.metrics.series(porch.number, metric)
  if (number === undefined) throw new Error(`there is no series of ${name}`)
  return number
}
const [co2, door] = [seriesOf('co2'), seriesOf('door')]
const afterUs = startMs * 1000 - 1
const throughUs = (startMs + 90 * minuteMs) * 1000
const minutes = (timesMs: Float64Array) => Array.from(timesMs, timeMs => (timeMs - startMs) / minuteMs)

test('series are returned separately, without other series and replaced values', async t => {
  for (const source of sources) {
    const asked = { series: [co2, door, 999_999], afterUs, throughUs }
    const read = async (more: object = {}) => {
      const found = await source.samples({ ...asked, rowsMax: 5, ...more }, never)
      const texts = [...found].map(([series, { timesMs, values }]) => [series, `${minutes(timesMs)}: ${values}`])
      return Object.fromEntries(texts)
    }
    t.strictSame(await read(), { [co2]: '0,2,90: 400,450,500', [door]: '0,2: 1,0' })
    t.strictSame(await read({ series: [] }), {})
    await t.rejects(read({ rowsMax: 4 }), { code: 'TOO_LARGE' })
    const open = { series: [co2], afterUs: startMs * 1000, throughUs: (startMs + 2 * minuteMs) * 1000 }
    t.strictSame(await read(open), { [co2]: '2: 450' }, 'open at its beginning and closed at its end')
  }
})

test('hours have the figures of their values', async t => {
  for (const source of sources) {
    const hours = await source.hours(
      { series: [co2, door], fromUs: startMs * 1000, toUs: throughUs + 1, expiredBeforeUs: Number.NEGATIVE_INFINITY },
      never,
    )
    const { startsMs, count, mean, std, min, max } = hours.get(co2) ?? {}
    t.strictSame(minutes(startsMs ?? new Float64Array(0)), [0, 60])
    const figures = [count, mean, min, max].map(column => (column ?? []).join(' '))
    t.strictSame(figures, ['2 1', '425 500', '400 500', '450 500'])
    t.ok(Math.abs((std?.[0] ?? 0) - Math.sqrt(1250)) < 1e-9)
    t.ok(Number.isNaN(std?.[1]))
    t.strictSame(Array.from(hours.get(door)?.count ?? []), [2])
  }
})

test('the newest value up to a moment', async t => {
  for (const source of sources) {
    const newest = async (from: number, through: number) => {
      const range = { afterUs: (startMs + from * minuteMs) * 1000, throughUs: (startMs + through * minuteMs) * 1000 }
      const { timesMs, values } = await source.newest({ series: co2, ...range }, never)
      return [...minutes(timesMs), ...values]
    }
    t.strictSame(await newest(-1, 89), [2, 450])
    t.strictSame(await newest(-1, 1), [0, 400], 'a replaced value is none')
    t.strictSame(await newest(2, 89), [])
  }
})

test('a range that does not end with the newest values goes on to the oldest one behind it', async t => {
  const metric = { title: '', unit: null, decimals: 0, quality: null, column: undefined, speed: undefined } as const
  const asked = [{ ...metric, name: 'co2', kind: 'counter', series: co2 }] as const
  const context = { measurements: sourceAt(address.http), signal: never, rowsMax: 100 }
  const range = { afterUs: startMs * 1000, throughUs: (startMs + 2 * minuteMs) * 1000 }
  const read = async (untilUs?: number) => {
    const until = untilUs === undefined ? {} : { untilUs }
    const [samples] = await customSamples(asked, { ...range, ...until }, undefined, context)
    return minutes(samples?.timesMs ?? new Float64Array(0))
  }
  t.strictSame(await read(), [0, 2], 'with the value before it')
  t.strictSame(await read(throughUs), [0, 2, 90])
  t.strictSame(await read(throughUs - 1), [0, 2])
})
