/** Exports of readings: every reading once in any order of time, and never a part that looks complete. */

import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import fc from 'fast-check'
import { fastify } from 'fastify'
import t, { type Test } from 'tap'
import { exportOperation } from '../../api/admin/export.ts'
import { createReadingsExport, type ReadingsExportOptions } from '../../query/export/readings-export.ts'
import type { QueryDevice } from '../../query/fleet.ts'
import { createReplicas } from '../../query/replicas.ts'
import type { QuestdbHttp } from '../../store/questdb/client/questdb-address.ts'
import { serveEverybody } from '../support/admin-scope.ts'
import { silentLog } from '../support/databases.ts'
import { madeMetrics } from '../support/made-metrics.ts'
import { startQuestdb, type TestReading } from '../support/questdb.ts'
import { runs } from '../support/runs.ts'
import { makeDevice, stays } from './query-at.ts'

// An answer that is not read to its end keeps its connection until QuestDB stops.
const questdb = await startQuestdb(t, { isOwn: true })
const endUs = Date.UTC(2027, 0) * 1000
const devices = ['porch', 'attic, left', 'Küche "1"'].map(name => makeDevice(name))
const unhurried = { timeoutMs: 600_000, connectTimeoutMs: 600_000 }

function exporter(t: Test, { limits, ...options }: Partial<ReadingsExportOptions> = {}) {
  const readingsExport = createReadingsExport({
    replicas: createReplicas([{ address: questdb.address }]),
    log: silentLog,
    limits: { ...unhurried, ...limits },
    ...options,
  })
  t.teardown(() => readingsExport.close())
  return readingsExport
}

async function linesOf(
  readingsExport: ReturnType<typeof exporter>,
  layout: 'csv' | 'ndjson',
  asked: { fromUs?: number; toUs?: number; devices?: QueryDevice[]; isNarrowed?: boolean } = {},
): Promise<string[]> {
  const range = { fromUs: 0, toUs: endUs, devices, isNarrowed: false }
  const answer = await readingsExport.pieces({ layout, ...range, ...asked }, stays())
  if (!answer.ok) throw new Error(answer.code)
  const body = await text(answer.pieces as AsyncIterable<never>)
  t.ok(body === '' || body.endsWith('\n'))
  return body.split('\n').slice(0, -1)
}

const metrics = ['temperature', 'humidity', 'pressure', 'battery_voltage', 'battery_percentage'] as const

const nameOf = (symbol: string) => devices.find(device => device.symbol === symbol)?.name ?? ''

function csvCells({ time, symbol, ...values }: TestReading): string {
  const name = nameOf(symbol)
  const cell = /[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name
  return [time, cell, ...metrics.map(metric => values[metric] ?? '')].join(',')
}

const reading = fc.record(
  {
    // There are few times, so that many readings share one.
    timeUs: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 86_400_000_000 })),
    device: fc.constantFrom(0, 1, 2),
    temperature: fc.double({ min: -90, max: 85, noNaN: true }).map(value => value + 0),
    humidity: fc.integer({ min: 0, max: 100 }),
    battery_voltage: fc.double({ min: 0, max: 100, noNaN: true }).map(value => value + 0),
  },
  { requiredKeys: ['timeUs', 'device', 'temperature'] },
)

function readingsOf(made: readonly { timeUs: number; device: number }[]): TestReading[] {
  const byKey = new Map(made.map(each => [`${each.timeUs}/${each.device}`, each]))
  return [...byKey.values()]
    .sort((a, b) => a.timeUs - b.timeUs || a.device - b.device)
    .map(({ timeUs, device, ...values }) => {
      const second = new Date(Date.UTC(2026, 4, 1) + Math.floor(timeUs / 1_000_000) * 1000).toISOString()
      const time = second.replace('.000Z', `.${String(timeUs % 1_000_000).padStart(6, '0')}Z`)
      return { ...values, time, symbol: devices[device]?.symbol ?? '' }
    })
}

t.test('every reading is in it once, by time and then by device, whatever the size of a piece', async t => {
  const made = fc.array(reading, { maxLength: 40 })
  const property = fc.asyncProperty(made, fc.integer({ min: 1, max: 50 }), async (made, pieceRows) => {
    await questdb.clear()
    const readings = readingsOf(made)
    if (readings.length > 0) await questdb.write(readings)
    const readingsExport = exporter(t, { limits: { pieceRows } })
    const [header, ...rows] = await linesOf(readingsExport, 'csv')
    const objects = (await linesOf(readingsExport, 'ndjson')).map(line => JSON.parse(line))
    t.equal(header, `timestamp,device,${metrics.join()}`)
    t.strictSame(rows, readings.map(csvCells))
    const wanted = readings.map(({ time: timestamp, symbol, ...values }) => {
      return { timestamp, device: nameOf(symbol), humidity: null, pressure: null, ...values }
    })
    t.strictSame(objects, wanted)
  })
  await fc.assert(property, runs(4, 15))
})

const minutes = Array.from({ length: 120 }, (_, minute) => ({ timeUs: minute * 60_000_000, device: minute % 3 }))
const ofMinutes = readingsOf(minutes.map(each => ({ ...each, temperature: 1 })))

t.test('a range of some devices: readings of a device without a name are left out', async t => {
  await questdb.clear()
  await questdb.write([...ofMinutes, { symbol: 'removed-999999', time: '2026-05-01T00:30:00.000000Z', temperature: 1 }])
  const readingsExport = exporter(t, { limits: { pieceRows: 7 } })
  t.equal((await linesOf(readingsExport, 'csv')).length, 121)
  const hourUs = 3_600_000_000
  const fromUs = Date.UTC(2026, 4, 1) * 1000 + hourUs
  const some = { fromUs, toUs: fromUs + hourUs, devices: devices.slice(0, 1), isNarrowed: true }
  const [, ...rows] = await linesOf(readingsExport, 'csv', some)
  t.equal(rows.length, 20)
  t.equal(rows[0], '2026-05-01T01:00:00.000000Z,porch,1,,,,')
  t.equal(rows.at(-1), '2026-05-01T01:57:00.000000Z,porch,1,,,,')
  t.strictSame(await linesOf(readingsExport, 'ndjson', { fromUs: endUs, toUs: endUs }), [])
})

t.test('exports above the limit are refused until a client closes its export', async t => {
  const readingsExport = exporter(t, { limits: { exportsMax: 1, pieceRows: 7 } })
  const asked = { layout: 'csv', fromUs: 0, toUs: endUs, devices, isNarrowed: false } as const
  const first = await readingsExport.pieces(asked, stays())
  t.match(await readingsExport.pieces(asked, stays()), { ok: false, code: 'QUEUE_FULL' })
  if (!first.ok) throw new Error(first.code)
  for await (const _ of first.pieces) break
  t.equal((await linesOf(readingsExport, 'csv')).length, 121)
})

/** Forwards requests to QuestDB, some with a smaller limit of rows: those answers look complete and are not. */
async function startShortener(t: Test, isShortened: (request: number) => boolean): Promise<QuestdbHttp> {
  const { host, port } = questdb.address.http
  let requests = 0
  const server = createServer((request, response) => {
    const path = isShortened(++requests) ? request.url?.replace('LIMIT%208', 'LIMIT%205') : request.url
    get({ host, port, path, headers: request.headers }, answer => {
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { ...questdb.address.http, host: '127.0.0.1', port: (server.address() as AddressInfo).port }
}

t.test(
  'an answer of QuestDB that ends early does not end the export well, and is asked for again if it is the first',
  async t => {
    const lines = async (isShortened: (request: number) => boolean) => {
      const address = { ...questdb.address, http: await startShortener(t, isShortened) }
      return await linesOf(exporter(t, { replicas: createReplicas([{ address }]), limits: { pieceRows: 7 } }), 'csv')
    }
    await t.rejects(
      lines(() => true),
      { message: 'INCOMPLETE' },
    )
    await t.rejects(
      lines(request => request === 3),
      { name: 'BodyInterrupted', code: 'INCOMPLETE' },
    )
    t.equal((await lines(request => request === 1)).length, 121)
  },
)

t.test('the more exports there are, the smaller are their pieces', async t => {
  await questdb.clear()
  await questdb.write(ofMinutes)
  const readingsExport = exporter(t, { limits: { pieceRows: 120, rowsInMemory: 240 } })
  const piecesOf = async () => {
    const asked = { layout: 'csv', fromUs: 0, toUs: endUs, devices, isNarrowed: false } as const
    const answer = await readingsExport.pieces(asked, stays())
    if (!answer.ok) throw new Error(answer.code)
    return answer.pieces[Symbol.asyncIterator]()
  }
  const countOf = async (pieces: AsyncIterator<Uint8Array>) => {
    let count = 0
    while ((await pieces.next()).done !== true) count++
    return count
  }
  t.equal(await countOf(await piecesOf()), 3, 'the header, all readings, an empty footer')
  const first = await piecesOf()
  t.equal(await countOf(await piecesOf()), 4)
  await first.return?.()
})

t.test('a Parquet file without readings is one too', async t => {
  const readingsExport = exporter(t)
  const asked = { layout: 'parquet', fromUs: endUs, toUs: endUs, devices, isNarrowed: false } as const
  const answer = await readingsExport.pieces(asked, stays())
  if (!answer.ok) throw new Error(answer.code)
  t.strictSame(await questdb.readParquet(await buffer(answer.pieces as AsyncIterable<never>), metrics.join()), [])
})

t.test('an answer that cannot be finished breaks off', async t => {
  await questdb.clear()
  await questdb.write(ofMinutes)
  let queriesLeft = Number.POSITIVE_INFINITY
  const replicas = createReplicas([{ address: questdb.address, answers: () => queriesLeft-- > 0 }])
  const readingsExport = exporter(t, { replicas, limits: { pieceRows: 7 } })
  const audited: unknown[] = []
  const app = fastify()
  t.teardown(() => app.close())
  await app.register(async scope => {
    serveEverybody(scope, {
      operations: [
        exportOperation({
          readingsExport,
          metrics: madeMetrics(),
          nowMs: Date.now,
          aheadMsMax: 0,
          log: silentLog,
          devices: { get: name => devices.find(device => device.name === name) as never, all: () => devices as never },
          audit: async entry => void audited.push(entry),
        }),
      ],
    })
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const whole = await fetch(`${url}/export?format=ndjson&devices=porch&from=2026-05-01&to=2026-05-02`)
  t.equal(whole.headers.get('content-type'), 'application/x-ndjson')
  t.equal((await whole.text()).split('\n').length, 41)
  const details = { format: 'ndjson', devices: 'porch', from: '2026-05-01', to: '2026-05-02' }
  t.match(audited, [{ action: 'readings.export', details }])
  queriesLeft = 5
  const broken = await fetch(`${url}/export`)
  t.equal(broken.status, 200)
  await t.rejects(broken.text())
  const away = await fetch(`${url}/export`)
  t.match([away.status, await away.json()], [503, { title: 'database unavailable' }])
  t.match(await (await fetch(`${url}/export?from=yesterday&format=xlsx`)).json(), {
    status: 400,
    errors: [{ path: 'from' }, { path: 'format' }],
  })
  t.match(await (await fetch(`${url}/export?devices=cellar`)).json(), { status: 404, title: 'device unknown' })
})
