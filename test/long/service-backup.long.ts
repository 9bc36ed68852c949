/** Backups of a service under load, and kills during backups and restores. Contents of a backup: `test/service/backup/backup.test.ts`. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { askQuestdb } from '../support/ask-questdb.ts'
import { barograph, type CommandRun } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'

const dayMs = 86_400_000
const root = resolve(import.meta.dirname, '..', '..')
const temperatures = 8000
const marker = 'restore-unfinished'

/** Noon of the previous day: all readings belong to one day. */
const startMs = Math.floor(Date.now() / dayMs) * dayMs - dayMs / 2

async function stored(service: Service): Promise<Set<number>> {
  const day = new Date(startMs).toISOString().slice(0, 10)
  const response = await fetch(`${service.url}/api/data/day/cellar/${day}`)
  if (response.status !== 200) return new Set()
  const { temperature } = (await response.json()) as { temperature: { v: number }[] }
  return new Set(temperature.map(({ v }) => Math.round(v * 100)))
}

/** Acknowledged readings of the device, each with a different time and temperature. */
const acknowledged = new Set<number>()
let next = 0
let beforeSecond = new Set<number>()
let password = ''

/** Sends until the service is gone. After the last reading it starts over, since a backup may take any time. */
async function send(to: Service, password: string): Promise<void> {
  for (;;) {
    const timestamp = startMs + next * 1000
    const body = { device: 'cellar', temperature: next / 100, humidity: 50, pressure: 1000, timestamp }
    const answer = await to.put('cellar', password, body).catch(() => undefined)
    if (answer === undefined) return
    if (answer.status === 200) acknowledged.add(next)
    next = (next + 1) % temperatures
  }
}

const environmentOf = ({ dataDirectory, url }: Service) => ({ DATA_DIR: dataDirectory, PORT: new URL(url).port })

const backUp = (service: Service, folder: string): Promise<CommandRun> =>
  barograph(['backup', folder], { environment: environmentOf(service) })

/** Throws if the command fails, since later steps depend on it. */
function succeeded({ status, stdout, stderr }: CommandRun): string {
  if (status !== 0) throw new Error(stderr)
  return stdout
}

const restoreTo = (folder: string, dataDirectory: string): Promise<CommandRun> =>
  barograph(['restore', folder], { environment: { DATA_DIR: dataDirectory, TIME_ZONE: 'UTC' } })

async function isInCheckpoint({ dataDirectory }: Service): Promise<boolean> {
  const [row] = await askQuestdb(dataDirectory, 'SELECT in_progress FROM checkpoint_status()')
  return row?.[0] === true
}

const folder = temporaryFolder(t)
const dataDirectory = join(folder, 'data')
/** The service outlives the test that starts it again. */
const startAgain = () => startService(t, { dataDirectory })
let service = await startAgain()

async function postBackup(to: Service, directory: string, signal?: AbortSignal): Promise<AsyncIterator<unknown>> {
  const token = readFileSync(join(to.dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const response = await fetch(`${to.url}/api/admin/backup`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ directory }),
    ...(signal === undefined ? {} : { signal }),
  })
  if (!response.ok || response.body === null) throw new Error(`${response.status} ${await response.text()}`)
  return response.body[Symbol.asyncIterator]()
}

/** The request would be rejected later anyway, so status 409 shows that another backup is running. */
async function backUpStatus(to: Service, directory: string): Promise<number> {
  return (await to.admin('POST', '/backup', { directory })).status
}

async function untilQuestdbIsUp({ url }: Service): Promise<void> {
  const isReady = async () =>
    ((await (await fetch(`${url}/health/ready`)).json()) as { status: string }).status === 'ok'
  await until('QuestDB is up', isReady)
}

t.test('the backup of a disconnected client leaves no files', async t => {
  const target = join(folder, 'aborted')
  await untilQuestdbIsUp(service)
  for (let round = 0; round < 2; round++) {
    const giveUp = new AbortController()
    const lines = await postBackup(service, target, giveUp.signal)
    await lines.next()
    await sleep(Math.random() * 500)
    giveUp.abort()
    await until('the backup has ended', async () => (await backUpStatus(service, dataDirectory)) !== 409)
    const left = readdirSync(target)
    t.ok(left.length === 0 || left.includes('manifest'), `empty or whole: ${left}`)
    if (left.length > 0) rmSync(target, { recursive: true })
    t.notOk(await isInCheckpoint(service))
  }
})

t.test('a service killed during a backup leaves one that restore rejects, and restarts', async t => {
  password = await service.addDevice('cellar')
  for (let round = 0; round < 2; round++) {
    const target = join(folder, `killed-${round}`)
    const sending = send(service, password)
    await until('readings are acknowledged', () => acknowledged.size >= 50 * (round + 1))
    const lines = await postBackup(service, target)
    await lines.next()
    await sleep(Math.random() * 700)
    await service.killAll()
    await sending
    if (!existsSync(join(target, 'manifest'))) {
      const refusal = /not a backup, or one that was cut short|no such/i
      t.match(await restoreTo(target, join(folder, 'never')), { status: 1, stderr: refusal })
      t.notOk(existsSync(join(folder, 'never')), 'nothing was touched')
    }
    service = await startAgain()
    await untilQuestdbIsUp(service)
    t.notOk(await isInCheckpoint(service))
    await until('all are shown', async () => (await stored(service)).isSupersetOf(acknowledged))
  }
})

t.test('a backup under load succeeds', async () => {
  const sending = send(service, password)
  const count = acknowledged.size
  await until('readings are acknowledged', () => acknowledged.size >= count + 100)
  beforeSecond = new Set(acknowledged)
  succeeded(await backUp(service, join(folder, 'second')))
  await service.killAll()
  await sending
})

t.test('the service rejects an interrupted restore, which can be repeated', async t => {
  const restoredData = join(folder, 'killed-restore')
  const environment = { ...process.env, DATA_DIR: restoredData }
  for (let round = 0; round < 2; round++) {
    const child = spawn(process.execPath, ['bin/launch.cjs', 'restore', join(folder, 'second')], {
      cwd: root,
      env: environment,
      stdio: 'ignore',
    })
    const exited = once(child, 'exit')
    await until('it has begun', () => existsSync(join(restoredData, marker)) || child.exitCode !== null)
    await sleep(Math.random() * 4000)
    child.kill('SIGKILL')
    await exited
    if (!existsSync(join(restoredData, marker))) break
    await t.rejects(startService(t, { dataDirectory: restoredData }), /holds a restore that was interrupted/)
  }
  if (existsSync(join(restoredData, marker))) {
    t.match(succeeded(await restoreTo(join(folder, 'second'), restoredData)), /^restored the backup/)
  }
  const restored = await startService(t, { dataDirectory: restoredData })
  t.ok(beforeSecond.size > 0)
  await until('all are shown', async () => (await stored(restored)).isSupersetOf(beforeSecond))
  t.equal((await restored.put('cellar', '', { device: 'cellar', temperature: 1 })).status, 401)
  t.equal((await restored.put('cellar', password, { device: 'cellar', temperature: 1 })).status, 200)
  t.equal((await restored.admin('POST', '/devices', { name: 'attic' })).status, 201, 'numbers go on')
})
