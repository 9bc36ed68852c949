/**
 * A backlog in the journal until QuestDB has applied it, against pre-encoded bodies of the same rows that are posted
 * over as many connections, in turns, and against the official client's own loop.
 *
 * Usage: node bench/forward.ts [rows] [devices] [sync|nosync] [pairs]
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Sender } from '@questdb/nodejs-client'
import { median } from 'simple-statistics'
import { connectQuestdb } from '../ingest/forwarder/questdb.ts'
import { openIngest } from '../ingest/ingest.ts'
import { createWallClock } from '../ingest/journal/wall-clock.ts'
import type { QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import type { CommitMode } from '../store/questdb/questdb-settings.ts'
import { readingsTable } from '../store/tables.ts'
import { silentLog, startDatabases } from '../test/support/databases.ts'
import { bodyOf } from '../test/support/request-body.ts'
import { startBench } from './bounds.ts'
import { ratios, sleep, spread } from './measure.ts'
import { deviceOf, encodeBodies, type Rows, readingOf, timeUsOf, writeJournal } from './rows.ts'
import { untilApplied } from './store.ts'

const count = Number(process.argv[2] ?? 2_000_000)
const deviceCount = Number(process.argv[3] ?? 1000)
const commitMode = (process.argv[4] ?? 'sync') as CommitMode
const pairs = Number(process.argv[5] ?? 3)
const bodyBytes = 10 * 1024 * 1024
const connectionCount = 2
const clientRows = 200_000
const clientFlushRows = 10_000
const dayUs = 86_400_000_000

const postedMin = 0.25
const clientMin = 1

const { hooks, bounds, run } = startBench()

/** Every run writes other days, so that no run meets rows of another. */
let nextStartUs = Date.UTC(2020, 0, 1) * 1000
function nextRows(rowCount: number): Rows {
  const rows = { count: rowCount, deviceCount, startUs: nextStartUs }
  nextStartUs += Math.ceil(((rowCount / deviceCount) * 60_000_000) / dayUs) * dayUs
  return rows
}

async function perSecond(rowCount: number, work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return (rowCount / (performance.now() - startedMs)) * 1000
}

async function post(address: QuestdbAddress, bodies: Buffer[]): Promise<void> {
  const queue = bodies.values()
  const connections = Array.from({ length: connectionCount }, () => connectQuestdb(address.http, 600_000))
  const drain = async (connection: (typeof connections)[number]) => {
    for (const body of queue) {
      const answer = await connection.write(bodyOf(body))
      if (answer.kind !== 'stored') throw new Error(`QuestDB refused: ${answer.message}`)
    }
    connection.close()
  }
  await Promise.all(connections.map(drain))
  await untilApplied(address)
}

async function forward(address: QuestdbAddress, directory: string, rowCount: number): Promise<number> {
  const ingest = openIngest({
    directory,
    journalBytesMax: 1024 ** 4,
    reserveBytes: 0,
    keepMs: 0,
    clock: createWallClock({ nowMs: Date.now }),
    log: silentLog,
    onFatal: error => {
      throw error
    },
  })
  // The threads have started before the clock does, as QuestDB and the yardstick's process have.
  await sleep(1000)
  const rate = await perSecond(rowCount, async () => {
    ingest.startForwarding(address.http, true)
    while (ingest.status().lag.rows > 0) await sleep(5)
  })
  await ingest.close()
  return rate
}

async function sendByClient({ http }: QuestdbAddress, rows: Rows): Promise<void> {
  const [user, password] = Buffer.from((http.authorization ?? '').slice(6), 'base64')
    .toString()
    .split(':')
  const settings = `http::addr=${http.host}:${http.port};username=${user};password=${password};auto_flush=off;protocol_version=2;`
  const sender = await Sender.fromConfig(settings)
  for (let index = 0; index < rows.count; index++) {
    const { timestampMs: _, custom: __, ...values } = readingOf(index)
    sender.table(readingsTable).symbol('device', deviceOf(rows, index).symbol)
    for (const [name, value] of Object.entries(values)) sender.floatColumn(name, value)
    await sender.at(BigInt(timeUsOf(rows, index)), 'us')
    if ((index + 1) % clientFlushRows === 0) await sender.flush()
  }
  await sender.close()
}

async function bench(): Promise<void> {
  const { store } = await startDatabases(hooks, { questdbCommitMode: commitMode })
  await store.questdb.ready
  const { address } = store.questdb
  let expected = 0

  const runOurs = async (rows: Rows) => {
    const directory = mkdtempSync(join(tmpdir(), 'barograph-bench-'))
    try {
      writeJournal(directory, rows)
      expected += rows.count
      return await forward(address, directory, rows.count)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  }
  const runYardstick = async (rows: Rows) => {
    const bodies = encodeBodies(rows, bodyBytes)
    expected += rows.count
    return await perSecond(rows.count, () => post(address, bodies))
  }

  // The discovery of each device is slow for all senders, so it is not measured.
  await runOurs(nextRows(Math.max(deviceCount * 2, 100_000)))
  await runYardstick(nextRows(500_000))
  const ours: number[] = []
  const yardstick: number[] = []
  for (let pair = 0; pair < pairs; pair++) {
    ours.push(await runOurs(nextRows(count)))
    yardstick.push(await runYardstick(nextRows(count)))
  }
  const clientRates: number[] = []
  for (let run = 0; run < pairs; run++) {
    expected += clientRows
    clientRates.push(await perSecond(clientRows, () => sendByClient(address, nextRows(clientRows))))
  }
  await untilApplied(address)
  const questdb = connectQuestdb(address.http, 600_000)
  const stored = Number((await questdb.query(`SELECT count() FROM ${readingsTable}`))[0]?.[0])
  questdb.close()
  const rates = ratios(ours, yardstick)
  const perSecondOfOurs = { perSecond: spread(ours) }
  bounds.must('all rows that were sent are stored', stored === expected)
  bounds.atLeast('rows a second, times the same rows encoded beforehand', median(rates), postedMin, {
    ratios: spread(rates),
    ...perSecondOfOurs,
    preEncodedPerSecond: spread(yardstick),
  })
  bounds.atLeast('rows a second, times the official client', median(ours) / median(clientRates), clientMin, {
    ...perSecondOfOurs,
    officialClientPerSecond: spread(clientRates),
  })
  const asked = { rows: count, devices: deviceCount, commitMode, pairs }
  bounds.conclude({ bench: 'forward', ...asked, sent: expected, stored })
}

await run(bench)
