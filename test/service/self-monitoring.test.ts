/** The service's own figures: measured, written to QuestDB, read by an administrator. */

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { test } from 'tap'
import { StatusHistory } from '../../api/admin/answers.ts'
import { statusHistoryOperation } from '../../api/admin/status-history.ts'
import type { IngestStatus } from '../../ingest/ingest.ts'
import { createIntervalMeter } from '../../ingest/intake/reading-meter.ts'
import { openSelfMonitoring } from '../../service/self-monitoring/self-monitoring.ts'
import type { QuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { serveEverybody } from '../support/admin-scope.ts'
import { until } from '../support/processes.ts'
import { startQuestdb } from '../support/questdb.ts'
import { questdbRows } from '../support/questdb-rows.ts'

test('an interval has its own quantiles and counts', async t => {
  const meter = createIntervalMeter()
  t.strictSame(meter.take(), { ackMs: undefined, rejected: 0 })
  // The order is shuffled.
  for (let at = 0; at < 1000; at++) meter.acknowledged(((at * 7) % 1000) + 1)
  meter.acknowledged(0)
  meter.rejected(3)
  meter.rejected(1)
  const { ackMs, rejected } = meter.take()
  t.equal(rejected, 4)
  t.ok(Math.abs((ackMs?.p50 ?? 0) - 500) < 3, `the median is ${ackMs?.p50}`)
  t.ok(Math.abs((ackMs?.p99 ?? 0) - 990) < 3, `the 99th percentile is ${ackMs?.p99}`)
  t.strictSame(meter.take(), { ackMs: undefined, rejected: 0 }, 'the next interval starts from zero')
})

/** One whose records grow by seven with each look. */
function createIngest(): () => IngestStatus {
  let records = 0
  return () => {
    records += 7
    return { journal: { records, bytes: 4096 }, lag: { rows: 5, seconds: 1.5 } } as IngestStatus
  }
}

function startSelfMonitoring(address: QuestdbAddress, changes: Partial<Parameters<typeof openSelfMonitoring>[0]> = {}) {
  const questdb = { address, state: () => ({ state: 'up' as const }) }
  return openSelfMonitoring({
    questdbs: [questdb],
    ingest: createIngest(),
    interval: createIntervalMeter(),
    nowMs: Date.now,
    everyMs: 20,
    ...changes,
  })
}

test('rows reach QuestDB and are read by steps', async t => {
  const { address } = await startQuestdb(t)
  const app = fastify()
  serveEverybody(app, { operations: [statusHistoryOperation({ address })] })
  t.teardown(() => app.close())
  const read = async (query: string) => (await app.inject(`/status/history${query}`)).json()
  t.strictSame(await read(''), { hours: 24, step_s: 240, points: [] }, 'there is no table yet')

  const interval = createIntervalMeter()
  const nowMs = Date.now()
  // Rows of the last hour but one, a minute apart, and one of two days ago.
  const timesMs = [nowMs - 172_800_000, ...Array.from({ length: 30 }, (_, at) => nowMs - 7_200_000 + at * 60_000)]
  const times = timesMs.values()
  const selfMonitoring = startSelfMonitoring(address, {
    interval: { take: () => ({ ...interval.take(), ackMs: { p50: 2, p99: 9 } }) },
    nowMs: () => times.next().value ?? nowMs - 172_000_000,
  })
  const count = async () =>
    Number((await questdbRows({ questdb: { address } }, 'SELECT count() FROM barograph_service'))[0]?.[0])
  await until('all rows are there', async () => (await count().catch(() => 0)) > timesMs.length)
  selfMonitoring.close()
  const history = StatusHistory.parse(await read('?hours=3'))
  t.equal(history.step_s, 30)
  t.equal(history.points.length, 30, 'no step is made up')
  for (const { time, rss_bytes, event_loop_p99_ms, ...rest } of history.points) {
    t.ok(Date.parse(time) > nowMs - 7_300_000 && Date.parse(time) <= nowMs)
    t.ok(Number(rss_bytes) > 1e6 && Number(event_loop_p99_ms) >= 0)
    const known = { ack_p50_ms: 2, ack_p99_ms: 9, stored: 7, rejected: 0, lag_readings: 5, lag_seconds: 1.5 }
    t.strictSame(rest, { ...known, journal_bytes: 4096 })
  }
  const days = StatusHistory.parse(await read('?hours=720'))
  t.equal(days.step_s, 7200)
  t.equal(days.points.at(-1)?.lag_readings, 5, 'the worst of a step')
  // One row may still have been under way.
  await until('it is the sum of a step', async () => {
    const { points } = StatusHistory.parse(await read('?hours=720'))
    return points.reduce((total, point) => total + (point.stored ?? 0), 0) === 7 * (await count())
  })
  for (const wrong of ['?hours=0', '?hours=721', '?hours=1.5', "?hours=1'", '?days=1']) {
    t.equal((await app.inject(`/status/history${wrong}`)).statusCode, 400, wrong)
  }
})

test('rows of nodes name their host, also in a table from before there were several', async t => {
  const { address } = await startQuestdb(t)
  const rows = (sql: string) => questdbRows({ questdb: { address } }, sql).catch(() => [])
  const alone = startSelfMonitoring(address)
  await until('a row is there', async () => (await rows('SELECT * FROM barograph_service')).length > 0)
  alone.close()
  const nodes = ['h-1', 'h-2'].map(node => startSelfMonitoring(address, { node }))
  const hosts = async () => (await rows('SELECT DISTINCT node FROM barograph_service ORDER BY node')).flat()
  await until('both are there', async () => (await hosts()).length === 3)
  for (const node of nodes) node.close()
  t.strictSame(await hosts(), [null, 'h-1', 'h-2'])
})

test('a QuestDB that is not there, or says nothing to a row, holds nothing up', async t => {
  const writes: IncomingMessage[] = []
  const silent = createServer((request, response) => {
    if (request.method === 'GET') response.end('{"ddl":"OK"}')
    else writes.push(request.resume())
  }).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const at = (port: number): QuestdbAddress => ({
    http: { host: '127.0.0.1', port, tls: false, authorization: `Basic ${btoa('a:b;c')}` },
    pg: { host: '127.0.0.1', port, user: '', password: '', database: '' },
  })
  let looks = 0
  const take = () => {
    looks++
    return { ackMs: undefined, rejected: 0 }
  }
  const interval = { take }
  const runThrough = async (port: number, condition: () => boolean) => {
    const selfMonitoring = startSelfMonitoring(at(port), { interval })
    await until('it has tried', condition)
    const before = looks
    await until('it has come back some times', () => looks > before + 5)
    selfMonitoring.close()
  }
  await runThrough(9, () => true)
  await runThrough((silent.address() as AddressInfo).port, () => writes.length > 0)
  t.equal(writes.length, 1, 'one row is under way, whatever comes of it')
  t.equal(writes[0]?.headers.authorization, `Basic ${btoa('a:b;c')}`)
  await until('its connection is cut', () => writes[0]?.socket.destroyed ?? false)
})
