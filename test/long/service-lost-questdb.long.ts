/** A QuestDB without rows that the journal on disk has given it: what is missing comes again, or is not passed over. */

import { cpSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { postgresUrl, questdbSettings } from '../../demo/cluster/database-settings.ts'
import { openDataDirectory } from '../../store/data-directory.ts'
import { openPostgres } from '../../store/postgres/postgres.ts'
import { parseQuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { openQuestdb } from '../../store/questdb/questdb.ts'
import { appliedPositionsTable } from '../../store/tables.ts'
import { openQuestdbSql } from '../faults/questdb-sql.ts'
import { askQuestdb } from '../support/ask-questdb.ts'
import { barograph } from '../support/command-line.ts'
import { storeOptions, temporaryFolder } from '../support/databases.ts'
import { serverPid, until } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'

const reading = (temperature: number) => ({ device: 'porch', temperature, humidity: 50, pressure: 1000 })
const sinceStart = `start=${new Date().toISOString()}`

async function temperatures({ url }: Service): Promise<string> {
  const response = await fetch(`${url}/api/readings/porch?${sinceStart}&format=ndjson`)
  if (response.status !== 200) return String(response.status)
  const lines = (await response.text()).split('\n').filter(line => line !== '')
  return lines.map(line => (JSON.parse(line) as { temperature: number }).temperature).join()
}

async function readiness({ url }: Service): Promise<string> {
  return JSON.stringify(await (await fetch(`${url}/health/ready`)).json())
}

const untilShown = (service: Service, wanted: string) =>
  until(`${wanted} are shown`, async () => (await temperatures(service)) === wanted)
const untilLost = (service: Service, text = 'is empty or an older copy: it lacks readings') =>
  until('the loss is reported', async () => (await readiness(service)).includes(text))
const acceptedAt = (text: string) => /QUESTDB_ACCEPT_LOSS=(\S+Z)/.exec(text)?.[1] ?? 'none'
const databaseOf = (dataDirectory: string) => join(dataDirectory, 'questdb', 'root', 'db')

/** The service trims nothing behind this position, so that a test must not either. */
async function untilRecorded(ask: (sql: string) => Promise<unknown[][]>, before = 0): Promise<number> {
  let position = before
  await until('QuestDB has the position of what it shows', async () => {
    const [row] = await ask(`SELECT max(position) FROM ${appliedPositionsTable}`)
    position = Number(row?.[0])
    return position > before
  })
  return position
}

/** As after the trim of a segment, which takes 64 MiB of readings. */
function trimJournal(dataDirectory: string): void {
  const folder = join(dataDirectory, 'journal')
  for (const name of readdirSync(folder)) if (name.endsWith('.journal')) rmSync(join(folder, name))
}

async function put(service: Service, password: string, value: number): Promise<void> {
  const { status } = await service.put('porch', password, reading(value))
  if (status !== 200) throw new Error(`answered ${status}`)
}

t.test('external ones: an empty one, and one of another service', async t => {
  const directory = openDataDirectory(join(temporaryFolder(t), 'databases'))
  t.teardown(() => directory.close())
  const postgres = await openPostgres(storeOptions(directory), new AbortController().signal)
  t.teardown(() => postgres.close())
  async function startOne(): Promise<Record<string, string>> {
    const own = openDataDirectory(join(temporaryFolder(t), 'questdb'))
    t.teardown(() => own.close())
    const questdb = await openQuestdb(storeOptions(own), new AbortController().signal)
    t.teardown(() => questdb.close())
    await questdb.ready
    return { DATABASE_URL: postgresUrl(postgres.pool), ...questdbSettings(questdb.address) }
  }
  const [own, another] = [await startOne(), await startOne()]
  const askAnother = openQuestdbSql(parseQuestdbAddress(another['QUESTDB_HTTP'], another['QUESTDB_PG']))
  const first = await startService(t, { environment: own })
  const { dataDirectory } = first
  const password = await first.addDevice('porch')
  await put(first, password, 20)
  await untilShown(first, '20')
  await first.end('SIGTERM')

  const emptied = await startService(t, { environment: another, dataDirectory })
  await untilShown(emptied, '20')
  t.pass('what the journal still has comes again')
  const recorded = await untilRecorded(askAnother)
  await put(emptied, password, 21)
  await untilShown(emptied, '20,21')
  await untilRecorded(askAnother, recorded)
  await emptied.end('SIGTERM')
  trimJournal(dataDirectory)

  const older = await startService(t, { environment: own, dataDirectory })
  await untilLost(older)
  t.equal(await temperatures(older), '503')
  await older.end('SIGTERM')
  await postgres.pool.query('UPDATE applied_journals SET id = gen_random_uuid()')
  const others = await startService(t, { environment: another, dataDirectory })
  await untilLost(others, 'is of another service: it lacks readings')
  t.equal(await temperatures(others), '503')
})

t.test('a managed one', async t => {
  const first = await startService(t)
  const { dataDirectory } = first
  const database = databaseOf(dataDirectory)
  const ask = (sql: string) => askQuestdb(dataDirectory, sql)
  const password = await first.addDevice('porch')
  await put(first, password, 20)
  await untilShown(first, '20')
  renameSync(database, `${database}.gone`)
  process.kill(serverPid({ path: dataDirectory }, 'questdb'), 'SIGKILL')
  await until('it is noticed', () => /replaying the journal/.test(first.output()))
  await untilShown(first, '20')
  t.pass('what the journal still has comes again while the service runs')
  const recorded = await untilRecorded(ask)
  await first.end('SIGTERM')
  cpSync(database, `${database}.older`, { recursive: true })
  const second = await startService(t, { dataDirectory })
  await put(second, password, 21)
  await untilShown(second, '20,21')
  const recordedAgain = await untilRecorded(ask, recorded)
  await second.end('SIGTERM')
  trimJournal(dataDirectory)

  // Readings of an older copy, positions of now.
  const readings = readdirSync(database).find(name => name.startsWith('readings~')) ?? ''
  renameSync(join(database, readings), `${database}.readings`)
  cpSync(join(`${database}.older`, readings), join(database, readings), { recursive: true })
  const half = await startService(t, { dataDirectory })
  await untilLost(half)
  t.equal(await temperatures(half), '503')
  await put(half, password, 22)
  await half.end('SIGTERM')

  rmSync(join(database, readings), { recursive: true })
  renameSync(`${database}.readings`, join(database, readings))
  const whole = await startService(t, { dataDirectory })
  await untilShown(whole, '20,21,22')
  t.pass('with its files back nothing is missing')
  await untilRecorded(ask, recordedAgain)
  await whole.end('SIGTERM')
  trimJournal(dataDirectory)

  rmSync(database, { recursive: true })
  const lost = await startService(t, { dataDirectory })
  await untilLost(lost)
  t.equal(await temperatures(lost), '503')
  const refused = await (await fetch(`${lost.url}/api/readings/porch?${sinceStart}`)).json()
  t.match(refused, { status: 'database unavailable', detail: /lacks readings that were received from \S+Z to \S+Z/ })
  t.match(lost.output(), /QuestDB lacks rows that it had/)
  await put(lost, password, 23)
  const doctor = await barograph(['doctor', '--url', lost.url], { environment: { DATA_DIR: dataDirectory } })
  t.match(doctor.stdout, /problem +service +.*lacks readings that were received from \S+Z to \S+Z/)
  const accepted = acceptedAt(await readiness(lost))
  await lost.end('SIGTERM')

  const further = await startService(t, { dataDirectory, environment: { QUESTDB_ACCEPT_LOSS: accepted } })
  await untilShown(further, '23')
  await until('it is ready', async () => (await readiness(further)).includes('"ok"'))
})
