/** Readings and further values from a real QuestDB: whole series, and chunks of any size. */

import http from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import pg from 'pg'
import t, { type Test, test } from 'tap'
import { eachCustomValue } from '../../query/questdb/measurements-source.ts'
import { ParquetUnreadable, readDoubleColumns } from '../../query/questdb/parquet.ts'
import { createColumnsReader } from '../../query/questdb/questdb-export.ts'
import { createReadingsSource, type ReadingsSource } from '../../query/questdb/readings-source.ts'
import type { QuestdbHttp, QuestdbPg } from '../../store/questdb/client/questdb-address.ts'
import { createPgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { metrics, readingsTable } from '../../store/tables.ts'
import type { TestHooks } from '../support/databases.ts'
import { startQuestdb, type TestCustomValue } from '../support/questdb.ts'
import { runs } from '../support/runs.ts'
import { stays } from './query-at.ts'

const questdb = await startQuestdb(t)
const { address } = questdb
const nowhere: QuestdbHttp = { host: '127.0.0.1', port: 1, tls: false, authorization: undefined }
const never = new AbortController().signal
const us = (time: string) => Date.parse(time) * 1000

interface Reached {
  readonly http?: QuestdbHttp
  readonly pg?: QuestdbPg
  readonly timeoutMs?: number
}

function sourceAt(hooks: TestHooks, { http = address.http, pg = address.pg, timeoutMs = 600_000 }: Reached = {}) {
  const settings = { questdb: { http, pg }, connectTimeoutMs: 600_000, statementTimeoutMs: timeoutMs }
  const connection = createPgConnection(settings.questdb.pg, settings)
  const reader = createColumnsReader(settings, connection)
  const source = createReadingsSource(reader, connection)
  hooks.teardown(() => connection.close())
  hooks.teardown(() => reader.close())
  return source
}

/** A proxy between client and QuestDB that alters responses. */
async function between(hooks: TestHooks, alter: (file: Buffer, response: http.ServerResponse) => void) {
  const { host, port } = address.http
  const server = http.createServer((request, response) => {
    http.get({ host, port, path: request.url, headers: request.headers }, answer => {
      const chunks: Buffer[] = []
      answer.on('data', chunk => chunks.push(chunk))
      answer.on('end', () => alter(Buffer.concat(chunks), response))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  hooks.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { ...address.http, port: (server.address() as AddressInfo).port }
}

/** One reading a second, with values missing here and there and for a long while, in more than one group of rows. */
const rowCount = 130_000
const firstUs = us('2025-03-01T00:00:00Z') + 7
t.before(async () => {
  const client = new pg.Client({ ...address.pg, ssl: false })
  await client.connect()
  await client.query(`INSERT INTO ${readingsTable} SELECT timestamp_sequence(${firstUs}L::timestamp, 1000000L), 'long-1',
    x / 7.0, CASE WHEN x % 3 = 0 THEN NULL ELSE x / 10.0 END, CASE WHEN x < 5000 THEN NULL ELSE 900 + x % 7 END,
    CASE WHEN x > 120000 THEN 3.5 ELSE NULL END, NULL FROM long_sequence(${rowCount})`)
  await client.end()
  await questdb.write([{ symbol: 'other-2', time: '2025-03-01T05:00:00.000001Z', temperature: 1 }])
})

const everything = { symbol: 'long-1', afterUs: 0, throughUs: us('2026-01-01T00:00:00Z'), rowsMax: rowCount }

function same(t: Test, series: Awaited<ReturnType<ReadingsSource['series']>>, length = rowCount) {
  t.equal(series.timesMs.length, length)
  const wrong = Array.from({ length }, (_, row) => row).find(row => {
    const x = row + 1
    const { temperature, humidity, pressure, battery_voltage, battery_percentage } = series.values
    return !(
      Object.is(series.timesMs[row], (firstUs + row * 1_000_000) / 1000) &&
      Object.is(temperature[row], x / 7) &&
      Object.is(humidity[row], x % 3 === 0 ? Number.NaN : x / 10) &&
      Object.is(pressure[row], x < 5000 ? Number.NaN : 900 + (x % 7)) &&
      Object.is(battery_voltage[row], x > 120_000 ? 3.5 : Number.NaN) &&
      Object.is(battery_percentage[row], Number.NaN)
    )
  })
  t.equal(wrong, undefined, 'the first row that differs')
}

test('a series comes over /exp with its gaps and its microseconds', async t => {
  // QuestDB's default limit is two connections with files, idle ones included.
  const sources = Array.from({ length: 6 }, () => sourceAt(t, { pg: { ...address.pg, port: 1 } }))
  for (const series of await Promise.all(sources.map(source => source.series(everything, never)))) same(t, series)
})

test('a series comes over the PostgreSQL protocol where /exp does not give it', async t => {
  same(t, await sourceAt(t, { http: nowhere }).series(everything, never))
  for (const alter of [
    // Cut in the middle, as QuestDB does when it fails after its first bytes.
    (file: Buffer, response: http.ServerResponse) =>
      response.writeHead(200).write(file.subarray(0, file.length / 2), () => response.destroy()),
    (_: Buffer, response: http.ServerResponse) => response.writeHead(429).end('exceeded connection limit'),
  ]) {
    const source = sourceAt(t, { http: await between(t, alter) })
    same(t, await source.series(everything, never))
  }
})

test('a range excludes its start, includes its end and can be TOO_LARGE', async t => {
  for (const source of [sourceAt(t), sourceAt(t, { http: nowhere })]) {
    await t.rejects(source.series({ ...everything, rowsMax: rowCount - 1 }, never), { code: 'TOO_LARGE' })
    const read = async (afterUs: number, throughUs: number) => {
      const { timesMs } = await source.series({ ...everything, afterUs, throughUs }, never)
      return [...timesMs].map(timeMs => Math.round(timeMs * 1000 - firstUs))
    }
    t.strictSame(await read(firstUs, firstUs + 2_000_000), [1_000_000, 2_000_000])
    t.strictSame(await read(firstUs - 1, firstUs), [0])
    t.strictSame(await read(0, firstUs - 1), [])
  }
  t.equal((await sourceAt(t).series({ ...everything, symbol: 'unknown-9' }, never)).timesMs.length, 0)
})

test('the newest times of a device are read newest first and given in order, no more than asked', async t => {
  const source = sourceAt(t)
  const at = (row: number) => firstUs + row * 1_000_000
  const times = async (afterUs: number, throughUs: number, countMax: number) => {
    const found = await source.newestTimes({ symbol: 'long-1', afterUs, throughUs, countMax }, never)
    return [...found].map(timeMs => Math.round((timeMs * 1000 - firstUs) / 1_000_000))
  }
  t.strictSame(await times(0, at(100), 3), [98, 99, 100])
  t.strictSame(await times(at(98), at(100), 3), [99, 100], 'open at its beginning, closed at its end')
  t.strictSame(await times(0, at(-1), 3), [])
})

test('the newest reading is the last one up to a moment', async t => {
  const source = sourceAt(t)
  const newest = (symbol: string, throughUs: number) => source.newestUs(symbol, throughUs, never)
  const lastUs = firstUs + (rowCount - 1) * 1_000_000
  t.equal(await newest('long-1', us('2030-01-01T00:00:00Z')), lastUs)
  t.equal(await newest('long-1', lastUs), lastUs)
  t.equal(await newest('long-1', lastUs - 1), lastUs - 1_000_000)
  t.equal(await newest('long-1', firstUs - 1), undefined)
  t.equal(await newest('unknown-9', lastUs), undefined)
})

test('an unavailable QuestDB and an abort have different codes', async t => {
  const away = sourceAt(t, { http: nowhere, pg: { ...address.pg, port: 1 } })
  await t.rejects(away.series(everything, never), { code: 'NOT_LISTENING' })
  const hanging = await between(t, () => undefined)
  const source = sourceAt(t, { http: hanging })
  const leaving = new AbortController()
  const left = source.series(everything, leaving.signal)
  setTimeout(() => leaving.abort(), 100)
  await t.rejects(left, { code: 'CANCELLED' })
  await t.rejects(source.series(everything, leaving.signal), { code: 'CANCELLED' })
})

test('a statement that QuestDB ends for its time is not asked again', async t => {
  await t.rejects(sourceAt(t, { timeoutMs: 1 }).series(everything, never), { code: 'TIMED_OUT' })
})

test('a whole file is enough, whatever its answer still waits for', async t => {
  const http = await between(t, (file, response) => {
    // The response begins with the bytes of its end, which must not be taken for the end. It is never ended.
    response.write(file.subarray(0, 4))
    setTimeout(() => response.write(file.subarray(4)), 50)
  })
  same(t, await sourceAt(t, { http, pg: { ...address.pg, port: 1 } }).series(everything, never))
})

test('a file that is not as we read it is refused whatever is wrong with it', async t => {
  let file: Buffer = Buffer.alloc(0)
  const http = await between(t, (answer, response) => {
    file = answer
    response.end(answer)
  })
  await sourceAt(t, { http }).series({ ...everything, throughUs: firstUs + 40_000_000 }, never)
  const columnCount = 1 + metrics.length
  t.equal(readDoubleColumns(file, columnCount, 41)[0]?.length, 41)
  const isRefused = (bytes: Buffer, columns = columnCount, rowsMax = 41): boolean => {
    try {
      readDoubleColumns(bytes, columns, rowsMax)
      return false
    } catch (error) {
      if (!(error instanceof ParquetUnreadable)) throw error
      return true
    }
  }
  t.ok(isRefused(file, columnCount - 1), 'another number of columns')
  t.ok(isRefused(file, columnCount, 40), 'more rows than were asked for')
  const readable = [...file.keys()].filter(length => !isRefused(file.subarray(0, length)))
  t.strictSame(readable, [], 'every part of it is refused')
  const change = fc.record({ at: fc.nat(file.length - 1), to: fc.nat(255) })
  const changes = fc.array(change, { minLength: 1, maxLength: 5 })
  const changed = fc.property(changes, made => {
    const bytes = Buffer.from(file)
    for (const { at, to } of made) bytes[at] = to
    // Only values may differ.
    isRefused(bytes)
  })
  fc.assert(changed, runs(500, 2000))
})

const unhurried = { connectTimeoutMs: 600_000, statementTimeoutMs: 600_000 }
const connection = createPgConnection(questdb.address.pg, unhurried)
t.teardown(() => connection.close())
const reader = createColumnsReader({ questdb: questdb.address, ...unhurried }, connection)
t.teardown(() => reader.close())

const startMs = Date.UTC(2026, 4, 1)
const timeOf = (second: number) => new Date(startMs + second * 1000).toISOString()

async function read(fromSecond: number, toSecond: number, series: readonly number[] | undefined, rowsMax?: number) {
  const found: [number, number, number][] = []
  const range = { fromUs: (startMs + fromSecond * 1000) * 1000, toUs: (startMs + toSecond * 1000) * 1000, series }
  await eachCustomValue(
    reader,
    range,
    (timeUs, ofSeries, value) => found.push([timeUs / 1_000_000 - startMs / 1000, ofSeries, value]),
    stays(),
    rowsMax,
  )
  return found
}

const made = fc.record({
  // There are few times, so that many values share one.
  second: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 86_400 })),
  series: fc.integer({ min: 1, max: 12 }),
  value: fc.option(fc.double({ min: -1e6, max: 1e6, noNaN: true }).map(value => value + 0)),
})

t.test('every value of a range comes once, ascending by time, whatever the size of a chunk', async t => {
  await fc.assert(
    fc.asyncProperty(fc.array(made, { maxLength: 60 }), fc.integer({ min: 1, max: 70 }), async (rows, rowsMax) => {
      await questdb.clear()
      const byKey = new Map(rows.map(row => [`${row.second}/${row.series}`, row]))
      const wanted = [...byKey.values()].sort((a, b) => a.second - b.second || a.series - b.series)
      await questdb.writeCustom(wanted.map(({ second, ...row }): TestCustomValue => ({ ...row, time: timeOf(second) })))
      const present = wanted.flatMap(({ second, series, value }) => (value === null ? [] : [[second, series, value]]))
      const found = await read(0, 86_401, undefined, rowsMax)
      t.ok(found.every(([second], place) => place === 0 || second >= (found[place - 1]?.[0] ?? 0)))
      const sorted = found.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])
      t.strictSame(sorted, present)
    }),
    runs(6, 25),
  )
})

t.test('only existing values of the given series and range are returned', async t => {
  await questdb.clear()
  await questdb.writeCustom([
    { series: 7, time: timeOf(0), value: 1 },
    { series: 7, time: timeOf(1), value: null },
    { series: 8, time: timeOf(1), value: 2 },
    { series: 9, time: timeOf(1), value: -0.5 },
    { series: 7, time: timeOf(2), value: 3 },
  ])
  t.strictSame(await read(0, 2, [7, 9]), [
    [0, 7, 1],
    [1, 9, -0.5],
  ])
  t.strictSame(await read(0, 9, []), [])
})
