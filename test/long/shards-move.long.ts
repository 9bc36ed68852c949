/**
 * From one machine with journals on disk to shards with Kafka, and back: a backup is restored into an external PostgreSQL, and the
 * files of its QuestDB become those of shard 1 (docs/scaling.md).
 */

import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { postgresUrl, questdbSettings } from '../../demo/cluster/database-settings.ts'
import { oneShard, type Placement, shardAt } from '../../placement/placement.ts'
import { type DataDirectory, openDataDirectory } from '../../store/data-directory.ts'
import { openPostgres } from '../../store/postgres/postgres.ts'
import { makeClient } from '../../store/postgres/postgres-connect.ts'
import { questdbRoot } from '../../store/questdb/questdb-server.ts'
import { measurementsTable, readingsTable } from '../../store/tables.ts'
import { type FaultQuestdb, startFaultQuestdb } from '../faults/databases.ts'
import { barograph, type CommandRun } from '../support/command-line.ts'
import { storeOptions, temporaryFolder } from '../support/databases.ts'
import { startKafka } from '../support/kafka.ts'
import { until } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'
import { splitShards } from '../support/split-shards.ts'

const dayMs = 86_400_000
const todayMs = Math.floor(Date.now() / dayMs) * dayMs
const folder = temporaryFolder(t)
const names = Array.from({ length: 10 }, (_, at) => `device-${at}`)

let count = 0
/** Readings of all devices at this time, as lines of CSV; no two have the same values, and no decimal has all of their digits. */
function linesAt(timeMs: number): string[] {
  return names.map(name => {
    count++
    return `${new Date(timeMs).toISOString()},${name},${count / 7},${50 + count / 1e6},1000,${400 + count / 3}`
  })
}
const csvOf = (lines: readonly string[]) => ['timestamp,device,temperature,humidity,pressure,co2', ...lines].join('\n')

function succeeded({ status, stdout, stderr }: CommandRun): string {
  if (status !== 0) throw new Error(stderr)
  return stdout
}

/** The lines of an export of all readings, without its header. */
async function exported({ url, dataDirectory }: Service): Promise<string[]> {
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const response = await fetch(`${url}/api/admin/export?format=csv`, { headers: { authorization: `Bearer ${token}` } })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  const [header = '', ...lines] = text.trimEnd().split('\n')
  return lines.map(line => cellsOf(header, line)).sort()
}

/** Time, device, temperature and co2, by the header. */
function cellsOf(header: string, line: string): string {
  const [columns, cells] = [header, line].map(text => text.split(',')) as [string[], string[]]
  const cell = (name: string) => cells[columns.indexOf(name)] ?? ''
  return [Date.parse(cell('timestamp')), cell('device'), Number(cell('temperature')), Number(cell('co2'))].join()
}

const expectedOf = (lines: readonly string[]) =>
  lines
    .map(line => line.split(','))
    .map(([time = '', device, temperature, , , co2]) => {
      return [Date.parse(time), device, Number(temperature), Number(co2)].join()
    })
    .sort()

/** Each once, and no others. */
async function untilExported(t: Test, service: Service, lines: readonly string[], what: string): Promise<void> {
  const isWhole = async () => {
    try {
      return (await exported(service)).length >= lines.length
    } catch {
      return false
    }
  }
  await until(what, isWhole)
  t.strictSame(await exported(service), expectedOf(lines), what)
}

const countOf = async ({ sql }: FaultQuestdb, table: string) =>
  Number((await sql(`SELECT count() FROM ${table}`))[0]?.[0])

function makeDirectory(name: string): DataDirectory {
  const directory = openDataDirectory(join(folder, name))
  t.teardown(() => directory.close())
  return directory
}

const old = [...linesAt(todayMs - 40 * dayMs), ...linesAt(todayMs - 2 * dayMs), ...linesAt(todayMs - 60_000)]
const [backup, moved] = [join(folder, 'backup'), join(folder, 'moved')]
const passwords = new Map<string, string>()

t.before(async () => {
  const single = await startService(t)
  for (const name of names) passwords.set(name, await single.addDevice(name))
  await single.admin('POST', '/stations', { sn: 'DEL-01', model: 'M1' })
  await until('readings are taken', async () => (await single.postImport(csvOf(old))).rejected === 0)
  const environment = { DATA_DIR: single.dataDirectory, PORT: new URL(single.url).port }
  await until('all are in QuestDB', async () => {
    const { status } = (await (await fetch(`${single.url}/health/ready`)).json()) as { status: string }
    const { lag } = (await single.admin('GET', '/status')).body as { lag: { readings: number } }
    return status === 'ok' && lag.readings === 0
  })
  succeeded(await barograph(['backup', backup], { environment }))
  await single.end('SIGTERM')
})

/** The backup becomes the PostgreSQL of all and the QuestDB of shard 1. */
async function startMoved(t: Test) {
  const databases = makeDirectory('databases')
  const postgres = await openPostgres(storeOptions(databases), new AbortController().signal)
  t.teardown(() => postgres.close())
  await postgres.pool.query('CREATE DATABASE moved')
  const DATABASE_URL = postgresUrl(postgres.pool).replace(/\/[^/]*$/, '/moved')

  succeeded(await barograph(['restore', backup], { environment: { DATA_DIR: moved, DATABASE_URL } }))
  const [ofFirst, ofSecond] = [makeDirectory('questdb-1'), makeDirectory('questdb-2')]
  const restored = { questdb: join(moved, 'questdb') }
  cpSync(join(questdbRoot(restored), 'db'), join(questdbRoot(ofFirst), 'db'), { recursive: true })
  const kafka = await startKafka(t)
  const [first, second] = [await startFaultQuestdb(t, ofFirst), await startFaultQuestdb(t, ofSecond)]
  const { QUESTDB_HTTP, QUESTDB_PG } = questdbSettings(second.address)
  const databaseSettings = { ...questdbSettings(first.address), DATABASE_URL }
  const environment = {
    ...databaseSettings,
    QUESTDB_SHARDS: `2=${QUESTDB_HTTP},${QUESTDB_PG}`,
    KAFKA_BROKERS: kafka.addresses.join(),
    KAFKA_REPLICATION: '1',
    PUBLIC_URL: 'http://localhost:1',
    SECRETS_DIR: join(moved, 'secrets'),
  }
  return { first, second, environment, databaseSettings }
}

t.test('to two shards and back all readings are there, each once', async t => {
  const { first, second, environment, databaseSettings } = await startMoved(t)
  const run = async (words: string) =>
    await barograph(words.split(' '), { environment: { ...environment, DATA_DIR: moved } })
  succeeded(await run('kafka prepare'))
  // As `shards add` does, but for a day that has begun.
  const epoch = await splitShards(environment.DATABASE_URL, todayMs * 1000)
  const placement: Placement = [...oneShard, epoch]
  const cluster = await startService(t, { environment, dataDirectory: moved })
  t.equal(await countOf(first, readingsTable), old.length)

  const fresh = [...linesAt(Math.max(todayMs, Date.now() - 2000)), ...linesAt(Math.max(todayMs + 1, Date.now() - 1000))]
  await cluster.import(csvOf(fresh))
  await untilExported(t, cluster, [...old, ...fresh], 'the readings of before and after the move')
  const { rows } = await openAndAsk<{ name: string; number: number }>(
    environment.DATABASE_URL,
    'SELECT name, number::int FROM devices',
  )
  const isOnSecond = (line: string) => {
    const [time = '', name] = line.split(',')
    return shardAt(placement, rows.find(row => row.name === name)?.number ?? 0, Date.parse(time) * 1000) === 2
  }
  const onSecond = fresh.filter(isOnSecond).length
  t.ok(onSecond > 0 && onSecond < fresh.length, 'both shards have some')
  t.equal(await countOf(second, readingsTable), onSecond)
  t.equal(await countOf(first, readingsTable), old.length + fresh.length - onSecond)

  // And back.
  t.match(await run('shards merge'), { status: 1, stderr: 'Another Barograph' })
  await until('nothing waits', async () => {
    const shards = JSON.parse((await run('shards list --json')).stdout) as { lag_groups: number }[]
    return shards.every(({ lag_groups: lag }) => lag === 0)
  })
  await cluster.end('SIGTERM')
  const alone = () => startService(t, { dataDirectory: moved, environment: databaseSettings })
  await t.rejects(alone(), /The readings are on 2 shards, and journals on disk have one QuestDB/)
  t.match(await run('shards merge'), {
    status: 0,
    stdout: `shard 2: copied ${onSecond} readings, ${onSecond} measurements\nall readings are on shard 1\n`,
  })
  t.equal(await countOf(first, measurementsTable), old.length + fresh.length)
  t.match(await run('shards merge'), { status: 1, stderr: 'all readings are on shard 1 already' })

  const single = await alone()
  await untilExported(t, single, [...old, ...fresh], 'the readings of both shards on one machine')
  const last = linesAt(Date.now())
  await single.import(csvOf(last))
  await untilExported(t, single, [...old, ...fresh, ...last], 'and later ones')
  const reading = { device: 'device-0', temperature: 1, humidity: 50, pressure: 1000 }
  t.equal(
    (await single.put('device-0', passwords.get('device-0') ?? '', reading)).status,
    200,
    'its password is the same',
  )
  t.match((await single.admin('GET', '/stations')).body, { stations: [{ sn: 'DEL-01' }] })
})

async function openAndAsk<Row extends object>(connectionString: string, sql: string): Promise<{ rows: Row[] }> {
  const client = makeClient({ connectionString })
  await client.connect()
  try {
    return await client.query(sql)
  } finally {
    await client.end()
  }
}
