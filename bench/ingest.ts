/**
 * Bulk bodies until they are acknowledged and QuestDB shows them, against the same lines posted straight to QuestDB's own
 * `/write`, into a table of the same description, over as many connections; in turns.
 *
 * Usage: node bench/ingest.ts [lines] [connections] [pairs]
 */

import { Agent, type RequestOptions, request } from 'node:http'
import pg from 'pg'
import { median } from 'simple-statistics'
import { createKeyText, digestOf, prefixOf } from '../auth/keys/key-text.ts'
import { connectQuestdb } from '../ingest/forwarder/questdb.ts'
import { readingsTable, readingsTableSql } from '../store/tables.ts'
import { createBounds } from './bounds.ts'
import { createHooks, hardware, ratios, sleep, spread } from './measure.ts'
import { readingOf } from './rows.ts'
import { type BenchService, deviceName, startBenchService } from './service.ts'

const lineCount = Number(process.argv[2] ?? 400_000)
const connections = Number(process.argv[3] ?? 4)
const pairs = Number(process.argv[4] ?? 5)
const deviceCount = 1000
const linesPerBody = 10_000
const postedTable = 'posted'
/** Each device has one reading in so many milliseconds. */
const stepMs = 5

/** A way in; another format is another row of this table. */
interface Way {
  name: string
  method: string
  path: string
  headers: Record<string, string>
  status: number
  /** At least so much of the rate of QuestDB alone. */
  rateMin: number
  body(readings: Iterable<BenchReading>): string
}

interface BenchReading {
  device: string
  timeMs: number
  values: Record<string, number>
}

const ways: Way[] = [
  {
    ...{ name: 'line protocol', method: 'POST', path: '/api/v2/write?bucket=b&org=o', headers: {}, status: 204 },
    rateMin: 0.5,
    body: linesOf,
  },
]

/** What QuestDB reads too: every number is a float. */
function linesOf(readings: Iterable<BenchReading>): string {
  let text = ''
  for (const { device, timeMs, values } of readings) {
    const fields = Object.entries(values).map(([name, value]) => `${name}=${value.toFixed(2)}`)
    text += `${postedTable},device=${device.replaceAll(' ', '\\ ')} ${fields.join()} ${timeMs}000000\n`
  }
  return text
}

function* readingsFrom(first: number, count: number, startMs: number): Generator<BenchReading> {
  for (let index = first; index < first + count; index++) {
    const timeMs = startMs + Math.floor(index / deviceCount) * stepMs
    const { timestampMs: _, ...values } = readingOf(index)
    yield { device: deviceName(index % deviceCount), timeMs, values }
  }
}

const { hooks, closeAll } = createHooks()
const bounds = createBounds()

/** An API key that may write all devices. */
async function addKey(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query(
    `INSERT INTO accounts (email, name, role, created_at, updated_at)
     VALUES ('bench@example.com', 'Bench', 'administrator', now(), now()) RETURNING id`,
  )
  const text = createKeyText()
  await client.query(
    `INSERT INTO api_keys (account_id, name, digest, prefix, scopes, create_devices, created_at)
     VALUES ($1, 'bench', $2, $3, '{ingest}', false, now())`,
    [rows[0].id, digestOf(text), prefixOf(text)],
  )
  await client.end()
  return text
}

/** Posts each body once, over so many connections with one request outstanding. */
async function postAll(target: RequestOptions, bodies: readonly Buffer[], status: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const queue = bodies.values()
  const drain = async () => {
    for (const body of queue) await post({ ...target, agent }, body, status)
  }
  await Promise.all(Array.from({ length: connections }, drain))
  agent.destroy()
}

function post(target: RequestOptions, body: Buffer, status: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request({ ...target, headers: { ...target.headers, 'content-length': body.length } }, response => {
      let text = ''
      response.on('data', (piece: Buffer) => (text += piece.toString()))
      response.on('end', () => {
        if (response.statusCode === status) resolve()
        else reject(new Error(`${response.statusCode} ${text}`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

async function bench(): Promise<void> {
  const { store, port, environment } = await startBenchService(hooks, deviceCount)
  const key = await addKey(environment['DATABASE_URL'] ?? '')
  await createPostedTable(store)
  const counts = { [readingsTable]: 0, [postedTable]: 0 }

  async function untilShown(table: keyof typeof counts): Promise<void> {
    const expected = counts[table] ?? 0
    for (;;) {
      const [row] = await store.query(`SELECT count() FROM ${table}`)
      if (Number(row?.[0]) >= expected) return
      await sleep(20)
    }
  }

  async function rate(table: keyof typeof counts, target: RequestOptions, bodies: Buffer[], status: number) {
    counts[table] = (counts[table] ?? 0) + lineCount
    const startedMs = performance.now()
    await postAll({ host: '127.0.0.1', ...target }, bodies, status)
    const acknowledgedMs = performance.now()
    await untilShown(table)
    const perSecond = (ms: number) => (lineCount / (ms - startedMs)) * 1000
    return { shown: perSecond(performance.now()), acknowledged: perSecond(acknowledgedMs) }
  }

  const { http } = store.questdb
  const questdb: RequestOptions = {
    ...{ host: http.host, port: http.port, method: 'POST', path: '/write' },
    headers: { authorization: http.authorization ?? '' },
  }

  /** The newest readings lie a moment back, so those of a run are later than those of all runs before. */
  function bodiesOf({ body }: Way): Buffer[] {
    const startMs = Date.now() - Math.ceil(lineCount / deviceCount) * stepMs
    return Array.from({ length: Math.ceil(lineCount / linesPerBody) }, (_, index) => {
      const first = index * linesPerBody
      return Buffer.from(body(readingsFrom(first, Math.min(linesPerBody, lineCount - first), startMs)))
    })
  }

  async function measure(way: Way): Promise<void> {
    const { name, method, path, headers, status, rateMin } = way
    const target: RequestOptions = { port, method, path, headers: { ...headers, authorization: `Token ${key}` } }
    const runs: Awaited<ReturnType<typeof rate>>[] = []
    const yardsticks: number[] = []
    // The first pair is not measured: QuestDB sees the devices for the first time, and threads start.
    for (let pair = 0; pair <= pairs; pair++) {
      const bodies = bodiesOf(way)
      const ours = await rate(readingsTable, target, bodies, status)
      const lines = way.body === linesOf ? bodies : bodiesOf({ ...way, body: linesOf })
      const yardstick = await rate(postedTable, questdb, lines, 204)
      if (pair === 0) continue
      runs.push(ours)
      yardsticks.push(yardstick.shown)
    }
    const shown = runs.map(run => run.shown)
    const rates = ratios(shown, yardsticks)
    bounds.atLeast(`${name}, lines a second, times QuestDB alone`, median(rates), rateMin, {
      ...{ ratios: spread(rates), perSecond: spread(shown), questdbPerSecond: spread(yardsticks) },
      acknowledgedPerSecond: spread(runs.map(run => run.acknowledged)),
    })
  }

  for (const way of ways) await measure(way)
  await untilShown(readingsTable)
  const [[stored] = []] = await store.query(`SELECT count() FROM ${readingsTable}`)
  bounds.must('all lines that were acknowledged are stored, once', Number(stored) === counts[readingsTable])
  bounds.conclude({
    bench: 'ingest',
    lines: lineCount,
    connections,
    pairs,
    stored: Number(stored),
    hardware: hardware(),
  })
}

async function createPostedTable({ questdb }: BenchService['store']): Promise<void> {
  const connection = connectQuestdb(questdb.http, 600_000)
  await connection.query(readingsTableSql.replaceAll(readingsTable, postedTable))
  connection.close()
}

try {
  await bench()
} finally {
  await closeAll()
}
