/**
 * A QuestDB without rows that the journal on disk has given it: what is missing comes again, or the loss is reported until it is
 * accepted. Other losses and external databases: `test/long/service-lost-questdb.long.ts`.
 */

import { readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { appliedPositionsTable } from '../../store/tables.ts'
import { askQuestdb } from '../support/ask-questdb.ts'
import { barograph } from '../support/command-line.ts'
import { serverPid, until } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'

const sinceStart = `start=${new Date().toISOString()}`

async function temperatures({ url }: Service): Promise<string> {
  const response = await fetch(`${url}/api/readings/porch?${sinceStart}&format=ndjson`)
  if (response.status !== 200) return String(response.status)
  const lines = (await response.text()).split('\n').filter(line => line !== '')
  return lines.map(line => (JSON.parse(line) as { temperature: number }).temperature).join()
}

const readiness = async ({ url }: Service) => JSON.stringify(await (await fetch(`${url}/health/ready`)).json())
const untilShown = (service: Service, wanted: string) =>
  until(`${wanted} are shown`, async () => (await temperatures(service)) === wanted)

async function put(service: Service, password: string, temperature: number): Promise<void> {
  const body = { device: 'porch', temperature, humidity: 50, pressure: 1000 }
  const { status } = await service.put('porch', password, body)
  if (status !== 200) throw new Error(`answered ${status}`)
}

t.test('what the journal has comes again, and a loss is reported until it is accepted', async t => {
  const first = await startService(t)
  const { dataDirectory } = first
  const database = join(dataDirectory, 'questdb', 'root', 'db')
  const password = await first.addDevice('porch')
  await put(first, password, 20)
  await untilShown(first, '20')
  renameSync(database, `${database}.gone`)
  process.kill(serverPid({ path: dataDirectory }, 'questdb'), 'SIGKILL')
  await until('it is noticed', () => /replaying the journal/.test(first.output()))
  await untilShown(first, '20')
  // The service trims nothing behind the position that QuestDB has, so that the test must not either.
  await until('QuestDB has the position of what it shows', async () => {
    const [row] = await askQuestdb(dataDirectory, `SELECT max(position) FROM ${appliedPositionsTable}`)
    return Number(row?.[0]) > 0
  })
  await first.end('SIGTERM')
  // As after the trim of a segment, which takes 64 MiB of readings.
  const folder = join(dataDirectory, 'journal')
  for (const name of readdirSync(folder)) if (name.endsWith('.journal')) rmSync(join(folder, name))
  rmSync(database, { recursive: true })

  const lost = await startService(t, { dataDirectory })
  const text = 'is empty or an older copy: it lacks readings'
  await until('the loss is reported', async () => (await readiness(lost)).includes(text))
  const refused = await (await fetch(`${lost.url}/api/readings/porch?${sinceStart}`)).json()
  t.match(refused, { status: 'database unavailable', detail: /lacks readings that were received from \S+Z to \S+Z/ })
  t.match(lost.output(), /QuestDB lacks rows that it had/)
  await put(lost, password, 23)
  const doctor = await barograph(['doctor', '--url', lost.url], { environment: { DATA_DIR: dataDirectory } })
  t.match(doctor.stdout, /problem +service +.*lacks readings that were received from \S+Z to \S+Z/)
  const accepted = /QUESTDB_ACCEPT_LOSS=(\S+Z)/.exec(await readiness(lost))?.[1] ?? 'none'
  await lost.end('SIGTERM')

  const further = await startService(t, { dataDirectory, environment: { QUESTDB_ACCEPT_LOSS: accepted } })
  await untilShown(further, '23')
  await until('it is ready', async () => (await readiness(further)).includes('"ok"'))
})
