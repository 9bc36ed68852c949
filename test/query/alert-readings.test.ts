/** Reads for alerts: readings of given devices, by time, independent of how they are split into pieces. */

import fc from 'fast-check'
import t from 'tap'
import { createAlertReadings } from '../../query/alerts/alert-readings.ts'
import { createReplicas } from '../../query/replicas.ts'
import { silentLog } from '../support/databases.ts'
import { startQuestdb } from '../support/questdb.ts'
import { runs } from '../support/runs.ts'
import { makeDevice } from './query-at.ts'

const questdb = await startQuestdb(t)
const startMs = Date.UTC(2026, 4, 1)
const devices = ['porch', 'attic', 'cellar'].map(name => makeDevice(name))
const seriesOfCo2 = [12, 7, undefined]
const range = { fromUs: startMs * 1000, toUs: (startMs + 86_400_000) * 1000 }
const never = new AbortController().signal

interface Made {
  second: number
  device: number
  temperature?: number
  co2?: number
}

interface Row {
  device: number
  second: number
  values: (number | undefined)[]
}

const made = fc.record(
  {
    // There are few times, so that several devices share one.
    second: fc.oneof(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 90_000 })),
    device: fc.constantFrom(0, 1, 2),
    temperature: fc.integer({ min: -90, max: 85 }),
    co2: fc.integer({ min: 300, max: 5000 }),
  },
  { requiredKeys: ['second', 'device'] },
) as fc.Arbitrary<Made>

async function write(rows: readonly Made[]): Promise<Made[]> {
  await questdb.clear()
  const readings = [...new Map(rows.map(row => [`${row.second}/${row.device}`, row])).values()]
  readings.sort((a, b) => a.second - b.second || numberOf(a.device) - numberOf(b.device))
  if (readings.length === 0) return []
  const timeOf = (second: number) => new Date(startMs + second * 1000).toISOString()
  const rowsOf = readings.map(({ second, device, temperature }) => {
    const symbol = devices[device]?.symbol ?? ''
    return { time: timeOf(second), symbol, ...(temperature === undefined ? {} : { temperature }) }
  })
  await questdb.write(rowsOf)
  const custom = readings.flatMap(({ second, device, co2 }) => {
    const series = seriesOfCo2[device]
    return co2 === undefined || series === undefined ? [] : [{ series, time: timeOf(second), value: co2 }]
  })
  await questdb.writeCustom(custom)
  return readings
}

const numberOf = (device: number) => devices[device]?.number ?? 0

function asked(of: readonly number[]) {
  return of.map(device => ({
    number: numberOf(device),
    symbol: devices[device]?.symbol ?? '',
    series: [undefined, seriesOfCo2[device]],
  }))
}

function open({ pieceRows = 60_000, answers = true } = {}) {
  const replicas = createReplicas([{ address: questdb.address, answers: () => answers }])
  return createAlertReadings({ replicas, pieceRows, timeoutMs: 600_000, log: silentLog })
}

async function read(of: readonly number[], pieceRows: number): Promise<Row[]> {
  const reader = open({ pieceRows })
  const rows: Row[] = []
  const query = { devices: asked(of), columns: ['temperature', undefined] as const, ...range }
  for await (const { length, device, timesUs, values } of reader.read(query, never)) {
    t.ok(timesUs.length === length && values.length === 2)
    for (let at = 0; at < length; at++) {
      rows.push({
        device: device[at] as number,
        second: ((timesUs[at] as number) / 1000 - startMs) / 1000,
        values: values.map(column => (Number.isNaN(column[at]) ? undefined : column[at])),
      })
    }
  }
  await reader.close()
  return rows
}

t.test('each reading of the range comes once, in order, with its values, whatever the size of a piece', async t => {
  const of = fc.subarray([0, 1, 2], { minLength: 1 })
  const rows = fc.array(made, { maxLength: 40, size: 'max' })
  const property = fc.asyncProperty(rows, fc.integer({ min: 1, max: 50 }), of, async (rows, pieceRows, of) => {
    const readings = (await write(rows)).filter(({ second, device }) => second < 86_400 && of.includes(device))
    const wanted = readings.map(({ second, device, temperature, co2 }) => {
      const values = [temperature, seriesOfCo2[device] === undefined ? undefined : co2]
      return { device: numberOf(device), second, values }
    })
    t.strictSame(await read(of, pieceRows), wanted)
  })
  await fc.assert(property, runs(4, 12))
})

t.test('more devices than a statement names: only their readings are returned', async t => {
  await write([0, 1, 2].map(device => ({ second: 5, device, temperature: device })))
  const reader = open()
  t.teardown(() => reader.close())
  const others = Array.from({ length: 600 }, (_, at) => ({ number: 5000 + at, symbol: `d-${5000 + at}`, series: [] }))
  const found: number[] = []
  const many = { devices: [...asked([0, 2]), ...others], columns: [], ...range }
  for await (const { device } of reader.read(many, never)) found.push(...device)
  t.strictSame(new Set(found), new Set([0, 2].map(numberOf)))
})

t.test('an error is returned when QuestDB does not answer, the caller aborts, or the query is closed', async t => {
  const away = open({ answers: false })
  const all = { devices: asked([0]), columns: [], ...range }
  const take = async (reader: typeof away, signal: AbortSignal) => {
    for await (const _ of reader.read(all, signal));
  }
  await t.rejects(take(away, never), { code: 'DATABASE_AWAY' })
  await away.close()
  const closed = open()
  await t.rejects(take(closed, AbortSignal.abort()), { code: 'CANCELLED' })
  await closed.close()
  await t.rejects(take(closed, never), { code: 'CLOSING' })
})
