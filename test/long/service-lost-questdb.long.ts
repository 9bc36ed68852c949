/**
 * A QuestDB without rows that it received from the journal: missing rows are resent, or block the forwarder. An emptied QuestDB:
 * `test/service/restarts.test.ts`. Topics of Kafka: `test/service/kafka.test.ts`.
 */

import { cpSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { questdbSettings } from '../../cli/demo/cluster/database-settings.ts'
import { appliedPositionsTable } from '../../store/tables.ts'
import { askPostgres, type Databases, settingsFor, startFaultDatabases } from '../faults/databases.ts'
import { askQuestdb } from '../support/ask-questdb.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'

const sinceStart = `start=${new Date().toISOString()}`

async function temperatures({ url }: Service): Promise<string> {
  const response = await fetch(`${url}/api/readings/porch?${sinceStart}&format=ndjson`)
  if (response.status !== 200) return String(response.status)
  const lines = (await response.text()).split('\n').filter(line => line !== '')
  return lines.map(line => (JSON.parse(line) as { temperature: number }).temperature).join()
}

const untilShown = (service: Service, wanted: string) =>
  until(`${wanted} are shown`, async () => (await temperatures(service)) === wanted)

/** Waits until the status reports the loss and reads are rejected. */
async function untilLost(service: Service, text = 'is empty or an older copy: it lacks readings'): Promise<void> {
  await until('the loss is reported', async () => {
    return (await (await fetch(`${service.url}/health/ready`)).text()).includes(text)
  })
  const shown = await temperatures(service)
  if (shown !== '503') throw new Error(`readings are answered ${shown}`)
}

/** Waits for a recorded position: the service keeps the journal behind it, and so must the test. */
async function untilRecorded(ask: (sql: string) => Promise<unknown[][]>, before = 0): Promise<number> {
  let position = before
  await until('QuestDB has the position of what it shows', async () => {
    const [row] = await ask(`SELECT max(position) FROM ${appliedPositionsTable}`)
    position = Number(row?.[0])
    return position > before
  })
  return position
}

/** Emulates the trim of a segment, which takes 64 MiB of readings. */
function trimJournal(dataDirectory: string): void {
  const folder = join(dataDirectory, 'journal')
  for (const name of readdirSync(folder)) if (name.endsWith('.journal')) rmSync(join(folder, name))
}

async function put(service: Service, password: string, temperature: number): Promise<void> {
  const reading = { device: 'porch', temperature, humidity: 50, pressure: 1000 }
  const { status } = await service.put('porch', password, reading)
  if (status !== 200) throw new Error(`answered ${status}`)
}

/** A stopped new service with one reading in QuestDB. */
async function startOnce(environment: Record<string, string>): Promise<{ dataDirectory: string; password: string }> {
  const service = await startService(t, { environment })
  const { dataDirectory } = service
  const password = await service.addDevice('porch')
  await put(service, password, 20)
  await untilShown(service, '20')
  await service.end('SIGTERM')
  return { dataDirectory, password }
}

const settingsOf = (databases: Databases) => settingsFor(databases, databases.questdb.http.port)
const databaseOf = (dataDirectory: string) => join(dataDirectory, 'questdb', 'root', 'db')

t.test('external QuestDBs: an empty one, and one of another service', async t => {
  const [own, another] = [
    await startFaultDatabases(t, temporaryFolder(t)),
    await startFaultDatabases(t, temporaryFolder(t)),
  ]
  const environment = settingsOf(own)
  const elsewhere = { ...environment, ...questdbSettings(another.questdb) }
  const { dataDirectory, password } = await startOnce(environment)

  const emptied = await startService(t, { environment: elsewhere, dataDirectory })
  await untilShown(emptied, '20')
  t.pass('what the journal still has comes again')
  const recorded = await untilRecorded(another.sql)
  await put(emptied, password, 21)
  await untilShown(emptied, '20,21')
  await untilRecorded(another.sql, recorded)
  await emptied.end('SIGTERM')
  trimJournal(dataDirectory)

  const older = await startService(t, { environment, dataDirectory })
  await untilLost(older)
  await older.end('SIGTERM')
  await askPostgres(own.postgresUrl, 'UPDATE applied_journals SET id = gen_random_uuid()')
  await untilLost(
    await startService(t, { environment: elsewhere, dataDirectory }),
    'belongs to another service: it lacks readings',
  )
})

t.test('a managed QuestDB with an older copy of the readings', async t => {
  const { dataDirectory, password } = await startOnce({})
  const database = databaseOf(dataDirectory)
  cpSync(database, `${database}.older`, { recursive: true })
  const second = await startService(t, { dataDirectory })
  const ask = (sql: string) => askQuestdb(dataDirectory, sql)
  await untilShown(second, '20')
  const recorded = await untilRecorded(ask)
  await put(second, password, 21)
  await untilShown(second, '20,21')
  await untilRecorded(ask, recorded)
  await second.end('SIGTERM')
  trimJournal(dataDirectory)

  // Readings of an older copy with current positions.
  const readings = readdirSync(database).find(name => name.startsWith('readings~')) ?? ''
  renameSync(join(database, readings), `${database}.readings`)
  cpSync(join(`${database}.older`, readings), join(database, readings), { recursive: true })
  const half = await startService(t, { dataDirectory })
  await untilLost(half)
  await put(half, password, 22)
  await half.end('SIGTERM')

  rmSync(join(database, readings), { recursive: true })
  renameSync(`${database}.readings`, join(database, readings))
  const whole = await startService(t, { dataDirectory })
  await untilShown(whole, '20,21,22')
  t.pass('with its files back nothing is missing')
})
