/** A backup of a service some of whose readings have expired: their hours are in it, summed, and shown after a restore. */

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { NewDevice } from '../../auth/devices/device.ts'
import { backUp } from '../../backup/backup.ts'
import { readManifest, writeManifest } from '../../backup/manifest.ts'
import { restore } from '../../backup/restore.ts'
import { openAcceptedFrom } from '../../lifecycle/retention/accepted-from.ts'
import { dayMs } from '../../lifecycle/retention/horizon.ts'
import { openRetention } from '../../lifecycle/retention/retention.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { openParts } from '../support/admin.ts'
import { silentLog, startDatabases, storeOptions, temporaryFolder } from '../support/databases.ts'
import { records } from '../support/journal-parts.ts'
import { until } from '../support/processes.ts'
import { startService } from '../support/service.ts'

const days = 3
const today = Math.floor(Date.now() / dayMs) * dayMs
const { directory, store } = await startDatabases(t)
await store.questdb.ready
const { ingest, pointsIngest, devices, journal, pointsJournal } = await openParts(t, store)
for (const path of [ingest, pointsIngest]) path.startForwarding(store.questdb.address.http, true)
const client = createQuestdbClient(store.questdb.address.http)
t.teardown(() => client.close())
await devices.add([NewDevice.parse({ name: 'porch' })], 'test')
const porch = devices.get('porch')
if (porch === undefined) throw new Error('no device')
for (let age = 1; age <= 6; age++) {
  await ingest.append(records(porch, [age, age + 1], (today - age * dayMs) * 1000, true))
}
await until('all is applied', () => ingest.status().lag.rows === 0)
const acceptedFrom = await openAcceptedFrom({ pool: store.postgres, days, nowMs: Date.now })
// As a person confirms it.
await acceptedFrom.raise(today - days * dayMs)
const retention = openRetention({
  days,
  acceptedFrom,
  shards: [{ number: 1, questdb: store.questdb, ingest, exec: sql => client.exec(sql, 30_000) }],
  nowMs: Date.now,
  log: silentLog,
  timing: { checkEveryMs: 50, marginMs: 0, graceMs: 0 },
})
t.teardown(() => retention.close())
await until('days have expired', () => retention.state().oldestDayMs === today - days * dayMs)

const target = join(temporaryFolder(t), 'backup')
const { signal } = new AbortController()
const parts = {
  directory: { ...directory, journal, pointsJournal },
  ingest: { readings: ingest, points: pointsIngest },
  store,
  reserveBytes: 0,
  version: '0.1.0',
  log: silentLog,
}
const run = { signal, closing: signal, onStep: () => undefined, bytes: new BigInt64Array(new SharedArrayBuffer(8)) }
const backedUp = await retention.whileNoDayExpires(() => backUp(target, parts, run))
const { directory: _, ...storeRest } = storeOptions(directory)
const restoreTo = (folder: string, dataDirectory: string) =>
  restore({ folder, dataDirectory, version: '0.1.0', store: storeRest, onStep: () => undefined })

t.test('the hours of expired readings are in the backup, day by day', async t => {
  t.match(backedUp.rows, { readings: 6, readings_hours: 3, readings_expired: 3 })
  const { days: sums } = readManifest(target).head.questdb
  t.equal(sums['readings_hours']?.length, 3)
  t.match(sums['readings_hours']?.[0], [new RegExp(new Date(today - 6 * dayMs).toISOString().slice(0, 10)), '1'])
})

t.test('a restored QuestDB that has other hours than the backup is refused', async t => {
  for (const table of ['readings_hours', 'readings_expired']) {
    const folder = join(temporaryFolder(t), 'changed')
    cpSync(target, folder, { recursive: true })
    const { head, files } = readManifest(folder)
    const sums = head.questdb.days[table]?.[1]
    if (sums === undefined) throw new Error('no sums')
    sums[sums.length - 1] = '77'
    writeManifest(folder, { head, files })
    const restored = restoreTo(folder, join(temporaryFolder(t), 'data'))
    await t.rejects(restored, new RegExp(`The table ${table} differs from the backup at`))
  }
})

t.test('after a restore the hours are shown, and the expired days are refused', async t => {
  const dataDirectory = join(temporaryFolder(t), 'data')
  await restoreTo(target, dataDirectory)
  const service = await startService(t, { dataDirectory, environment: { RETENTION_DAYS: '300' } })
  const hours = async () => {
    const response = await fetch(`${service.url}/api/detail_data/porch`)
    const body = (await response.json()) as { last_30d_hourly?: { temperature: { count: number }[] } }
    return body.last_30d_hourly?.temperature.map(({ count }) => count)
  }
  await until('it answers', async () => (await hours()) !== undefined)
  t.strictSame(await hours(), [2, 2, 2, 2, 2, 2])
  const status = (await service.admin('GET', '/status')).body
  const oldest = new Date(today - days * dayMs).toISOString().slice(0, 10)
  t.match(status, { retention: { days: 300, oldest_day: oldest, expired_days: 0, last_run: String, fault: null } })
  const password = (await service.admin('POST', '/devices/porch/rotate')).body as { password?: string }
  const late = (timestamp: number) =>
    service.put('porch', password.password ?? '', {
      device: 'porch',
      temperature: 1,
      humidity: 2,
      pressure: 1000,
      timestamp,
    })
  t.equal((await late(today - days * dayMs)).status, 200)
  t.equal((await late(today - days * dayMs - 1)).status, 400)
})
