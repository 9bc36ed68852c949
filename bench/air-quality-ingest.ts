/**
 * Points against readings by the same way, in turns: JSON arrays of 10,000 rows of one station or one device, and imports
 * of CSV. A run lasts until all of it is acknowledged, and until QuestDB shows it.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { median } from 'simple-statistics'
import { pointsTable, readingsTable } from '../store/tables.ts'
import type { Bounds } from './bounds.ts'
import { addKeys, type BulkTarget, postAll } from './bulk-load.ts'
import { type Hooks, ratios, sleep, spread } from './measure.ts'
import { readingOf } from './rows.ts'
import { type BenchService, deviceName, startBenchService } from './service.ts'

export interface IngestSetting {
  /** Rows of a run. */
  rows: number
  pairs: number
}

/** Rows that follow each other in time, a body of them. */
type WriteBody = (startMs: number, rows: number) => string

interface Source {
  table: string
  target: BulkTarget
  write: WriteBody
}

interface Way {
  name: string
  rowsPerBody: number
  readings: Source
  points: Source
}

/** A key may have two batches at a time. */
const connections = 2
const rateMin = 0.8
const rowsPerArray = 10_000
const parameters = ['pm1', 'pm25', 'pm10', 'no', 'no2', 'o3', 'so2', 'co']
const minuteMs = 60_000
/** The interval gives a device as many readings as a station has points. */
const readingMs = minuteMs / parameters.length

export async function measureIngest(hooks: Hooks, bounds: Bounds, { rows, pairs }: IngestSetting): Promise<void> {
  const bench = await startBenchService(hooks, connections)
  const ways = waysOf(await addStations(bench), rows)
  const runMs = rows * readingMs
  // Each run is later than those before.
  let startMs = Math.floor(Date.now() / minuteMs) * minuteMs - ways.length * (pairs + 1) * runMs
  const expected = { readings: 0, points: 0 }
  for (const way of ways) {
    const shown: Rates = { readings: [], points: [] }
    const acknowledged: Rates = { readings: [], points: [] }
    for (let pair = 0; pair <= pairs; pair++, startMs += runMs) {
      for (const kind of ['readings', 'points'] as const) {
        expected[kind] += rows
        const rate = await rateOf(bench, way[kind], bodiesOf(way, kind, startMs, rows), { rows, all: expected[kind] })
        // The first pair includes the start of threads and the discovery of the series in QuestDB.
        if (pair === 0) continue
        shown[kind].push(rate.shown)
        acknowledged[kind].push(rate.acknowledged)
      }
    }
    note(bounds, `${way.name}, points a second until acknowledged, times readings`, acknowledged)
    note(bounds, `${way.name}, points a second until shown, times readings`, shown)
  }
}

type Rates = Record<'readings' | 'points', number[]>

function note(bounds: Bounds, name: string, { readings, points }: Rates): void {
  const list = ratios(points, readings)
  bounds.atLeast(name, median(list), rateMin, {
    ratios: spread(list),
    pointsPerSecond: spread(points),
    readingsPerSecond: spread(readings),
  })
}

interface Access {
  port: number
  keys: string[]
  token: string
}

/** A station for each connection, an API key for each, and the token of the admin API. */
async function addStations({ service, port, environment }: BenchService): Promise<Access> {
  for (let index = 0; index < connections; index++) {
    const { status } = await service.admin('POST', '/stations', { sn: stationName(index), model: 'bench' })
    if (status !== 201) throw new Error(`the stations were not made: ${status}`)
  }
  const token = readFileSync(join(service.dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  return { port, keys: await addKeys(environment['DATABASE_URL'] ?? '', connections), token }
}

function stationName(index: number): string {
  return `S-${index}`
}

function waysOf({ port, keys, token }: Access, rows: number): Way[] {
  const json = 'application/json'
  const csv = 'text/csv'
  const importTo = (path: string): BulkTarget => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': csv }
    return { connections: [{ port, path, headers }], status: 200 }
  }
  const pointsTo = keys.map((key, index) => ({
    port,
    path: `/api/v1.0/device/${stationName(index)}/data/`,
    headers: { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}`, 'content-type': json },
  }))
  const readingsTo = keys.map(key => ({
    port,
    path: '/api/log/batch',
    headers: { authorization: `Bearer ${key}`, 'content-type': json },
  }))
  return [
    {
      name: 'JSON arrays',
      rowsPerBody: rowsPerArray,
      readings: { table: readingsTable, target: { connections: readingsTo, status: 200 }, write: readingsArray },
      points: { table: pointsTable, target: { connections: pointsTo, status: 201 }, write: pointsArray },
    },
    {
      name: 'import of CSV',
      rowsPerBody: rows,
      readings: { table: readingsTable, target: importTo('/api/admin/import'), write: readingsCsv },
      points: { table: pointsTable, target: importTo('/api/admin/import-points'), write: pointsCsv },
    },
  ]
}

function bodiesOf({ rowsPerBody, ...sources }: Way, kind: keyof Rates, startMs: number, rows: number): Buffer[] {
  return Array.from({ length: Math.ceil(rows / rowsPerBody) }, (_, index) => {
    const first = index * rowsPerBody
    return Buffer.from(sources[kind].write(startMs + first * readingMs, Math.min(rowsPerBody, rows - first)))
  })
}

function readingsIn(startMs: number, rows: number) {
  return Array.from({ length: rows }, (_, index) => {
    const { timestampMs: _time, ...values } = readingOf(index)
    return { timestamp: new Date(startMs + index * readingMs).toISOString(), device: deviceName(0), ...values }
  })
}

function readingsArray(startMs: number, rows: number): string {
  return JSON.stringify(readingsIn(startMs, rows))
}

function readingsCsv(startMs: number, rows: number): string {
  const readings = readingsIn(startMs, rows)
  return `${Object.keys(readings[0] ?? {}).join()}\n${readings.map(reading => Object.values(reading).join()).join('\n')}\n`
}

function pointsIn(startMs: number, rows: number) {
  return Array.from({ length: rows }, (_, index) => ({
    timestamp: new Date(startMs + Math.floor(index / parameters.length) * minuteMs).toISOString().slice(0, 19),
    parameter: parameters[index % parameters.length],
    unit: 'ppb',
    value: ((index * 7) % 400) / 10,
  }))
}

function pointsArray(startMs: number, rows: number): string {
  return JSON.stringify(pointsIn(startMs, rows))
}

function pointsCsv(startMs: number, rows: number): string {
  const lines = pointsIn(startMs, rows).map(({ timestamp, parameter, unit, value }) => {
    return `${timestamp},${stationName(0)},${parameter},${unit},${value}\n`
  })
  return `timestamp,sn,parameter,unit,value\n${lines.join('')}`
}

async function rateOf(
  { store }: BenchService,
  { table, target }: Source,
  bodies: readonly Buffer[],
  { rows, all }: { rows: number; all: number },
): Promise<{ shown: number; acknowledged: number }> {
  const startedMs = performance.now()
  await postAll(target, bodies)
  const acknowledgedMs = performance.now()
  for (;;) {
    const [[count] = []] = await store.query(`SELECT count() FROM ${table}`)
    if (Number(count) >= all) break
    await sleep(20)
  }
  const perSecond = (ms: number) => (rows / (ms - startedMs)) * 1000
  return { shown: perSecond(performance.now()), acknowledged: perSecond(acknowledgedMs) }
}
