/** A backup of two shards while readings come in, and a restore beside the same topics: what came after it is sent again from there. */

import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { questdbSettings } from '../../demo/cluster/database-settings.ts'
import { openDataDirectory } from '../../store/data-directory.ts'
import { makeClient } from '../../store/postgres/postgres-connect.ts'
import { questdbRoot } from '../../store/questdb/questdb-server.ts'
import { readingsTable } from '../../store/tables.ts'
import { type FaultQuestdb, settingsFor, startFaultDatabases, startFaultQuestdb } from '../faults/databases.ts'
import type { QuestdbSql } from '../faults/questdb-sql.ts'
import { barograph, type CommandRun } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { startKafka } from '../support/kafka.ts'
import { makeSecrets } from '../support/nodes.ts'
import { until } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'

function succeeded({ status, stdout, stderr }: CommandRun): string {
  if (status !== 0) throw new Error(stderr)
  return stdout
}

const folder = temporaryFolder(t)
const [kafka, databases] = await Promise.all([startKafka(t), startFaultDatabases(t, folder, 2)])
const SECRETS_DIR = makeSecrets(t)
const common = {
  KAFKA_BROKERS: kafka.addresses.join(),
  KAFKA_REPLICATION: '1',
  PUBLIC_URL: 'http://localhost:1',
  SECRETS_DIR,
  NODE_LEASE_SECONDS: '10',
}
const environment = { ...settingsFor(databases, databases.questdb.http.port), ...common }
const noKafka = { KAFKA_BROKERS: '', KAFKA_REPLICATION: '', QUESTDB_SHARDS: '' }
const run = (words: string[], more = {}) =>
  barograph(words, { environment: { ...environment, DATA_DIR: folder, ...more } })
const start = (role: string, more = {}) =>
  startService(t, {
    environment: { ...environment, ...more },
    command: [process.execPath, 'service/main.ts', '--role', role],
  })

const names = Array.from({ length: 8 }, (_, at) => `device-${at}`)
const passwords = new Map<string, string>()
let temperature = 0

/** A 503 says that nothing is stored. */
async function isAcknowledged(service: Service, name: string, reading: object): Promise<boolean> {
  const { status } = await service.put(name, passwords.get(name) ?? '', reading)
  if (status !== 200 && status !== 503) throw new Error(`answered with ${status}`)
  return status === 200
}

/** One reading of each device; resolves to their temperatures, which no others have, when all are acknowledged. */
async function putAll(service: Service): Promise<number[]> {
  const put: number[] = []
  for (const name of names) {
    temperature++
    const reading = { device: name, temperature: temperature / 100, humidity: 50, pressure: 1000 }
    await until('it is acknowledged', async () => await isAcknowledged(service, name, reading))
    put.push(temperature)
  }
  return put
}

const storedIn = async (questdbs: readonly QuestdbSql[]): Promise<number[][]> =>
  Promise.all(
    questdbs.map(async sql =>
      (await sql(`SELECT temperature FROM ${readingsTable}`)).map(([value]) => Math.round(Number(value) * 100)),
    ),
  )

/** The tables may just be made. */
const untilStored = (questdbs: readonly QuestdbSql[], count: number) =>
  until(`${count} are stored`, async () => (await storedIn(questdbs).catch(() => [])).flat().length === count)

const rootOf = (name: string) => questdbRoot({ questdb: join(folder, name, 'questdb') })

t.test(
  'a restore has what was acknowledged before the backup, and the topics bring what came after it, once',
  async t => {
    succeeded(await run(['kafka', 'prepare']))
    const [api, forwarder] = [await start('api'), await start('forward')]
    for (const name of names) passwords.set(name, await api.addDevice(name))
    const acknowledged = [await putAll(api), await putAll(api)].flat()
    const questdbs = [databases.sql, ...databases.furtherQuestdbs.map(({ sql }) => sql)]
    await untilStored(questdbs, acknowledged.length)

    const backup = join(folder, 'backup')
    const failing = await run(['shards', 'backup', backup, '--copy', 'exit 3'])
    t.match(failing, { status: 1, stderr: /QuestDB of shard 1 has ended with status 3/ })
    for (const sql of questdbs) t.equal((await sql('SELECT in_progress FROM checkpoint_status()'))[0]?.[0], false)

    // Readings come in meanwhile.
    let isCopying = true
    const sending = (async () => {
      // A temperature has a maximum, and a copy may take long.
      for (; isCopying; await sleep(500)) acknowledged.push(...(await putAll(api)))
    })()
    const roots = `case $SHARD in 1) root='${rootOf('databases')}';; *) root='${rootOf('questdb-2')}';; esac`
    const copied = await run([
      'shards',
      'backup',
      backup,
      '--copy',
      `${roots}; cp -a "$root/db" "$root/.checkpoint" "$FOLDER/"`,
    ])
    isCopying = false
    await sending
    t.match(succeeded(copied), /^backed up to .*: 2 shards, \d+ files/)
    t.match(
      await run(['restore', backup], { DATA_DIR: join(folder, 'none'), QUESTDB_HTTP: '', QUESTDB_PG: '', ...noKafka }),
      {
        status: 1,
        stderr: /see barograph shards restore/,
      },
    )

    // Behind the backup: more readings, and a device of which it knows nothing.
    acknowledged.push(...(await putAll(api)))
    passwords.set('late', await api.addDevice('late'))
    const ofLate = { device: 'late', temperature: -50, humidity: 50, pressure: 999 }
    await until('it is acknowledged', async () => await isAcknowledged(api, 'late', ofLate))
    await untilStored(questdbs, acknowledged.length + 1)
    for (const process of [api, forwarder]) await process.end('SIGTERM')

    // All databases are lost, and the topics are there.
    await ask(databases.postgresUrl, 'CREATE DATABASE restored')
    const DATABASE_URL = databases.postgresUrl.replace(/\/[^/]*$/, '/restored')
    t.match(await run(['shards', 'restore', backup]), { status: 1, stderr: /has tables/ })
    const restored = succeeded(await run(['shards', 'restore', backup], { DATABASE_URL }))
    t.match(restored, /topic barograph-readings-s2: sent again from offset \d+ on/)
    const { first, second, settings } = await startRestored(t, backup)
    const before = (await storedIn([first.sql, second.sql])).flat().length
    t.ok(
      before >= 2 * names.length && before < acknowledged.length,
      `${before} of ${acknowledged.length} are in the backup`,
    )
    const [again] = [
      await start('api', { ...settings, DATABASE_URL }),
      await start('forward', { ...settings, DATABASE_URL }),
    ]
    acknowledged.push(...(await putAll(again)))
    const now = [first.sql, second.sql]
    await until('all are there again', async () => {
      return new Set((await storedIn(now)).flat()).size === acknowledged.length + 1
    })
    t.strictSame(
      (await storedIn(now)).flat().sort((a, b) => a - b),
      [...acknowledged, -5000].sort((a, b) => a - b),
      'each once',
    )
    await again.addDevice('late')
    const { rows } = await ask(DATABASE_URL, "SELECT number::int AS number FROM devices WHERE name = 'late'")
    t.ok(Number(rows[0]?.number) > names.length + 1000, 'no device gets a number that readings in the topics have')
  },
)

/** QuestDBs of the files of a backup, and the settings of processes that use them. */
async function startRestored(t: Test, backup: string) {
  const questdbs: FaultQuestdb[] = []
  for (const shard of [1, 2]) {
    const directory = openDataDirectory(join(folder, `restored-${shard}`))
    t.teardown(() => directory.close())
    const root = questdbRoot(directory)
    mkdirSync(dirname(root), { recursive: true })
    cpSync(join(backup, 'questdb', `s${shard}`), root, { recursive: true })
    writeFileSync(join(root, '_restore'), '')
    questdbs.push(await startFaultQuestdb(t, directory))
  }
  const [first, second] = questdbs as [FaultQuestdb, FaultQuestdb]
  const ofSecond = Object.values(questdbSettings(second.address)).join()
  return { first, second, settings: { ...questdbSettings(first.address), QUESTDB_SHARDS: `2=${ofSecond}` } }
}

async function ask(connectionString: string, sql: string): Promise<{ rows: { number?: number }[] }> {
  const client = makeClient({ connectionString })
  await client.connect()
  try {
    return await client.query(sql)
  } finally {
    await client.end()
  }
}
