/** Backups of a service under load, with kills in the middle, and what is there after a restore. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
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

/**
 * Sends readings of one device, each with a time and a temperature of its own, and keeps those that were acknowledged. Behind
 * the last it sends the first again, for a backup may take any time.
 */
class Sender {
  readonly acknowledged = new Set<number>()
  acknowledgements = 0
  readonly name: string
  readonly #password: string
  #service: Service
  #next = 0
  #isStopped = false
  #running: Promise<void> | undefined

  constructor(service: Service, name: string, password: string) {
    this.#service = service
    this.name = name
    this.#password = password
  }

  start(service = this.#service): void {
    this.#service = service
    const run = async () => {
      while (!this.#isStopped && (await this.put(this.#next))) this.#next = (this.#next + 1) % temperatures
    }
    this.#running = run()
  }

  /** Until the service is gone. */
  async put(number: number): Promise<boolean> {
    const timestamp = new Date(startMs + number * 1000).toISOString()
    const body = { device: this.name, temperature: number / 100, humidity: 50, pressure: 1000, timestamp }
    try {
      const { status } = await this.#service.put(this.name, this.#password, body)
      if (status === 200) {
        this.acknowledged.add(number)
        this.acknowledgements++
      }
      return true
    } catch {
      return false
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }
}

/** Noon of yesterday: all readings are of one day. */
const startMs = Math.floor(Date.now() / dayMs) * dayMs - dayMs / 2

async function stored(service: Service, device: string): Promise<Set<number>> {
  const day = new Date(startMs).toISOString().slice(0, 10)
  const response = await fetch(`${service.url}/api/data/day/${device}/${day}`)
  if (response.status !== 200) return new Set()
  const { temperature } = (await response.json()) as { temperature: { v: number }[] }
  return new Set(temperature.map(({ v }) => Math.round(v * 100)))
}

const environmentOf = ({ dataDirectory, url }: Service) => ({ DATA_DIR: dataDirectory, PORT: new URL(url).port })

const backUp = (service: Service, folder: string): Promise<CommandRun> =>
  barograph(['backup', folder], { environment: environmentOf(service) })

/** Of a command that has to succeed: nothing after it makes sense otherwise. */
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
let service = await startService(t, { dataDirectory })
const senders: Sender[] = []
for (const name of ['porch', 'roof']) senders.push(new Sender(service, name, await service.addDevice(name)))
await service.admin('POST', '/accounts', { email: 'ada@example.com' })
await service.admin('POST', '/stations', { sn: 'DEL-01', model: 'M1' })

/** The lines of the answer as they come. */
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

/** Of a request that would be refused later anyway, so 409 means that another backup is running. */
async function backUpStatus(to: Service, directory: string): Promise<number> {
  return (await to.admin('POST', '/backup', { directory })).status
}

async function untilQuestdbIsUp({ url }: Service): Promise<void> {
  const isReady = async () =>
    ((await (await fetch(`${url}/health/ready`)).json()) as { status: string }).status === 'ok'
  await until('QuestDB is up', isReady)
}

const acknowledgedCount = () => senders.reduce((count, { acknowledgements }) => count + acknowledgements, 0)

async function untilMore(count: number): Promise<void> {
  const before = acknowledgedCount()
  await until('readings are acknowledged', () => acknowledgedCount() >= before + count)
}

t.test('what was acknowledged before a backup under load began is there after the restore', async t => {
  for (const sender of senders) sender.start()
  await untilQuestdbIsUp(service)
  await untilMore(100)
  const before = new Map(senders.map(({ name, acknowledged }) => [name, new Set(acknowledged)]))
  const target = join(folder, 'first')
  t.match(succeeded(await backUp(service, target)), /^backed up to .* files, /)
  t.equal(statSync(target).mode & 0o777, 0o700)
  t.notOk(await isInCheckpoint(service))
  await untilMore(20)
  t.match(await backUp(service, target), { status: 1, stderr: /is not empty/ })
  t.match(await backUp(service, join(dataDirectory, 'backup')), { status: 1, stderr: /is in the data directory/ })
  t.match(await restoreTo(target, dataDirectory), { status: 1, stderr: /is not empty/ })

  const restoredData = join(folder, 'restored')
  t.match(succeeded(await restoreTo(target, restoredData)), /^restored the backup of /)
  t.match(await restoreTo(target, restoredData), { status: 1, stderr: /is not empty/ })
  const second = await startService(t, { dataDirectory: restoredData })
  for (const sender of senders) {
    const wanted = before.get(sender.name) ?? new Set()
    await until('all are shown', async () => (await stored(second, sender.name)).isSupersetOf(wanted))
    t.ok((await stored(second, sender.name)).isSubsetOf(new Set(Array(temperatures).keys())))
  }
  const { body: accounts } = await second.admin('GET', '/accounts')
  t.match(JSON.stringify(accounts), /ada@example\.com/)
  t.match(JSON.stringify((await second.admin('GET', '/stations')).body), /DEL-01/)
  const old = new Sender(second, 'porch', '')
  t.ok(await old.put(0))
  t.equal(old.acknowledged.size, 0, 'a wrong password')
  for (const sender of senders) await sender.stop()
  t.equal((await second.admin('POST', '/devices', { name: 'attic' })).status, 201, 'numbers go on')
  t.equal(await second.end('SIGTERM'), 0)
})

t.test('a backup whose client goes away leaves nothing, and QuestDB is as before', async t => {
  const target = join(folder, 'aborted')
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

/** The readings of the device that were acknowledged before the second backup. */
let cellar: ReadonlySet<number> = new Set()

t.test('a service that is killed in a backup leaves one that is refused, and goes on', async t => {
  const password = await service.addDevice('cellar')
  const sender = new Sender(service, 'cellar', password)
  for (let round = 0; round < 2; round++) {
    const target = join(folder, `killed-${round}`)
    sender.start(service)
    await until('readings are acknowledged', () => sender.acknowledged.size >= 50 * (round + 1))
    const lines = await postBackup(service, target)
    await lines.next()
    await sleep(Math.random() * 700)
    await service.killAll()
    if (!existsSync(join(target, 'manifest'))) {
      const refusal = /no backup, or one that was cut short|no such/i
      t.match(await restoreTo(target, join(folder, 'never')), { status: 1, stderr: refusal })
      t.notOk(existsSync(join(folder, 'never')), 'nothing was touched')
    }
    service = await startService(t, { dataDirectory })
    await untilQuestdbIsUp(service)
    t.notOk(await isInCheckpoint(service))
    const wanted = sender.acknowledged
    await until('all are shown', async () => (await stored(service, 'cellar')).isSupersetOf(wanted))
  }
  succeeded(await backUp(service, join(folder, 'second')))
  cellar = sender.acknowledged
})

t.test('a restore that is killed is refused by the service, and can be repeated', async t => {
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
  t.ok(cellar.size > 0)
  await until('all are shown', async () => (await stored(restored, 'cellar')).isSupersetOf(cellar))
})
