/** The sums of each day: of the moment when they were opened, and readings go on meanwhile. */

import { join } from 'node:path'
import t from 'tap'
import { NewDevice } from '../../auth/devices/device.ts'
import { backUp } from '../../backup/backup.ts'
import { openDaySums } from '../../backup/day-sums.ts'
import { readManifest } from '../../backup/manifest.ts'
import { openParts } from '../support/admin.ts'
import { askQuestdb } from '../support/ask-questdb.ts'
import { silentLog, startDatabases, temporaryFolder } from '../support/databases.ts'
import { openGate } from '../support/pg-gate.ts'
import { until } from '../support/processes.ts'

const { directory, store } = await startDatabases(t)
await store.questdb.ready
const { ingest, pointsIngest, devices, journal, pointsJournal } = await openParts(t, store)
for (const path of [ingest, pointsIngest]) path.startForwarding(store.questdb.address.http, true)
const gate = await openGate(t, store.questdb.address.pg)
const rowsOf: Record<string, string> = {
  readings: "INSERT INTO readings (ts, device, temperature) VALUES ('TIME', 'porch-1', 21.5)",
  points: "INSERT INTO points (ts, series, value, stored_at) VALUES ('TIME', 7, 12.25, '2026-05-03T00:00:00.000007Z')",
}

const ask = (sql: string) => askQuestdb(directory.path, sql)
const countOf = async (table: string) => Number((await ask(`SELECT count() FROM ${table}`))[0]?.[0])

async function write(table: string, time: string): Promise<void> {
  const count = await countOf(table)
  await ask((rowsOf[table] ?? '').replace('TIME', time))
  await until('the row is there', async () => (await countOf(table)) === count + 1)
}

t.test('rows that come after the sums were opened are not in them, on whatever day', async t => {
  for (const table of Object.keys(rowsOf)) {
    t.strictSame(await (await openDaySums(gate.address, table)).read(), [], `${table} is empty`)
    for (const time of ['2026-05-02T00:00:00.000001Z', '2026-05-01T12:00:00.000000Z']) await write(table, time)
    const sums = await openDaySums(gate.address, table)
    for (const time of ['2026-04-30T00:00:00Z', '2026-05-01T13:00:00Z', '2026-05-03T00:00:00Z'])
      await write(table, time)
    const days = await sums.read()
    t.match(
      days,
      [
        ['2026-05-01T00:00:00.000000Z', '1', '43200000000'],
        ['2026-05-02T00:00:00.000000Z', '1', '1'],
      ],
      table,
    )
    t.equal(days.length, 2)
    t.match(days[0], table === 'readings' ? { 3: '215000' } : { 3: '7', 4: '122500', 5: '7' })
    const later = await (await openDaySums(gate.address, table)).read()
    t.strictSame(
      later.map(([, count]) => count),
      ['1', '2', '1', '1'],
    )
    await ask(`TRUNCATE TABLE ${table}`)
    await until('it is empty', async () => (await countOf(table)) === 0)
  }
  await until('every connection is closed', () => gate.connections() === 0)
})

t.test('sums that are not read leave no connection, and a broken one is an error', async t => {
  const table = 'readings'
  const leaving = new AbortController()
  const sums = await openDaySums(gate.address, table, leaving.signal)
  leaving.abort()
  await t.rejects(sums.read())
  await t.rejects(openDaySums(gate.address, table, leaving.signal))
  const closed = await openDaySums(gate.address, table)
  await closed.close()
  await t.rejects(closed.read())
  await until('every connection is closed', () => gate.connections() === 0)
})

t.test('a reading becomes visible while the sums of a backup are still computed', async t => {
  await devices.add([NewDevice.parse({ name: 'porch' })], 'test')
  const device = devices.get('porch')
  if (device === undefined) throw new Error('there is no device')
  const none = Number.NaN
  const reading = { temperature: 20, humidity: 50, pressure: 1000, battery_voltage: none, battery_percentage: none }
  const isVisible = async (count: number) => (await countOf('readings')) === count
  await ingest.accept(device, { timestampMs: undefined, ...reading })
  await until('the first reading is visible', () => isVisible(1))

  const steps: string[] = []
  const holding = {
    ...pointsIngest,
    files: {
      hold: async () => await pointsIngest.files?.hold(),
      release() {
        gate.hold()
        pointsIngest.files?.release()
      },
    },
  }
  const { signal } = new AbortController()
  const target = join(temporaryFolder(t), 'backup')
  const address = { ...store.questdb.address, pg: gate.address }
  const backup = backUp(
    target,
    {
      directory: { ...directory, journal, pointsJournal },
      store: { ...store, questdb: { ...store.questdb, address } },
      ingest: { readings: ingest, points: holding },
      reserveBytes: 0,
      version: '0.1.0',
      log: silentLog,
    },
    {
      signal,
      closing: signal,
      onStep: step => void steps.push(step),
      bytes: new BigInt64Array(new SharedArrayBuffer(8)),
    },
  )
  await until('the sums are under way', () => steps.includes('sums'))
  await ingest.accept(device, { timestampMs: undefined, ...reading })
  await until('the second reading is visible', () => isVisible(2))
  t.strictSame(steps, ['journals', 'sums'])
  gate.release()
  t.match(await backup, { rows: { readings: 1, points: 0 } })
  const [day] = readManifest(target).head.questdb.days['readings'] ?? []
  t.equal(day?.[1], '1', 'which is not in the sums')
})
