/** A backup of a service under load, and what is there after its restore. Kills: `test/long/service-backup.long.ts`. */

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { askQuestdb } from '../support/ask-questdb.ts'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'

const dayMs = 86_400_000
/** Noon of yesterday: all readings are of one day. */
const startMs = Math.floor(Date.now() / dayMs) * dayMs - dayMs / 2

async function stored(service: Service): Promise<Set<number>> {
  const day = new Date(startMs).toISOString().slice(0, 10)
  const response = await fetch(`${service.url}/api/data/day/porch/${day}`)
  if (response.status !== 200) return new Set()
  const { temperature } = (await response.json()) as { temperature: { v: number }[] }
  return new Set(temperature.map(({ v }) => Math.round(v * 100)))
}

t.test('what was acknowledged before a backup under load began is there after the restore', async t => {
  const folder = temporaryFolder(t)
  const [target, restoredData] = [join(folder, 'backup'), join(folder, 'restored')]
  const service = await startService(t)
  const { dataDirectory, url } = service
  const password = await service.addDevice('porch')
  await service.admin('POST', '/accounts', { email: 'ada@example.com' })
  await service.admin('POST', '/stations', { sn: 'DEL-01', model: 'M1' })
  const isReady = async () => (await (await fetch(`${url}/health/ready`)).json()) as { status: string }
  await until('QuestDB is up', async () => (await isReady()).status === 'ok')
  const acknowledged = new Set<number>()
  let isSending = true
  const sending = (async () => {
    for (let number = 0; isSending; number = (number + 1) % 8000) {
      const timestamp = startMs + number * 1000
      const body = { device: 'porch', temperature: number / 100, humidity: 50, pressure: 1000, timestamp }
      if ((await service.put('porch', password, body)).status === 200) acknowledged.add(number)
    }
  })()
  const backUp = (to: string) =>
    barograph(['backup', to], { environment: { DATA_DIR: dataDirectory, PORT: new URL(url).port } })
  const restore = (to: string) => barograph(['restore', target], { environment: { DATA_DIR: to, TIME_ZONE: 'UTC' } })
  await until('readings are acknowledged', () => acknowledged.size > 100)
  const before = new Set(acknowledged)
  t.match(await backUp(target), { status: 0, stdout: /^backed up to .* files, / })
  isSending = false
  await sending
  t.equal(statSync(target).mode & 0o777, 0o700)
  t.strictSame(await askQuestdb(dataDirectory, 'SELECT in_progress FROM checkpoint_status()'), [[false]])
  t.match(await backUp(target), { status: 1, stderr: /is not empty/ })
  t.match(await backUp(join(dataDirectory, 'backup')), { status: 1, stderr: /is in the data directory/ })
  t.match(await restore(dataDirectory), { status: 1, stderr: /is not empty/ })
  t.equal(await service.end('SIGTERM'), 0)

  t.match(await restore(restoredData), { status: 0, stdout: /^restored the backup of / })
  t.notOk(existsSync(join(restoredData, 'restore-unfinished')))
  const second = await startService(t, { dataDirectory: restoredData })
  await until('all are shown', async () => (await stored(second)).isSupersetOf(before))
  t.match(JSON.stringify((await second.admin('GET', '/accounts')).body), /ada@example\.com/)
  t.match(JSON.stringify((await second.admin('GET', '/stations')).body), /DEL-01/)
  t.equal((await second.put('porch', '', { device: 'porch', temperature: 1 })).status, 401)
  t.equal((await second.put('porch', password, { device: 'porch', temperature: 1 })).status, 200)
  t.equal((await second.admin('POST', '/devices', { name: 'attic' })).status, 201, 'numbers go on')
  t.equal(await second.end('SIGTERM'), 0)
  writeFileSync(join(restoredData, 'restore-unfinished'), readFileSync(join(target, 'manifest')))
  await t.rejects(startService(t, { dataDirectory: restoredData }), /holds a restore that was interrupted/)
})
