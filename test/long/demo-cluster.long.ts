/** The processes of `script/cluster`, with one broker. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startDemoCluster } from '../../cli/demo/cluster/demo-cluster.ts'
import { readConfig } from '../../service/settings/config.ts'
import { freePort } from '../../store/process/free-port.ts'
import { temporaryFolder } from '../support/databases.ts'
import { isRunning, until } from '../support/processes.ts'

const folder = join(temporaryFolder(t), 'cluster')
const config = readConfig({ ...process.env, PORT: String(await freePort()) })
const lines: string[] = []

function start() {
  const cluster = startDemoCluster({
    config,
    settings: { ...process.env, ALERT_TARGETS_ALLOWED: '127.0.0.0/8' },
    folder,
    brokers: 1,
    signal: new AbortController().signal,
    onLine: line => lines.push(line),
  })
  t.teardown(() => cluster.stop())
  return cluster
}

const pidOf = (name: string): number =>
  Number(/process (\d+)/.exec(lines.findLast(line => line.startsWith(`${name}: `)) ?? '')?.[1])

/** The running process, which the supervisor has started. */
const pidIn = (name: string): number => Number.parseInt(readFileSync(join(folder, `${name}.process`), 'utf8'), 10)

async function statusOf(url: string): Promise<number> {
  try {
    const response = await fetch(`${url}/api/fleet`)
    await response.arrayBuffer()
    return response.status
  } catch {
    return 0
  }
}

t.test('one address serves all data after the kill of any process, and a restart', async t => {
  const cluster = start()
  const { url, admin, token } = await cluster.started
  const authorization = `Bearer ${token}`
  const headers = { authorization, 'content-type': 'application/json' }
  const made = await fetch(`${admin.url}/api/admin/devices`, { method: 'POST', headers, body: '{"name":"porch"}' })
  t.equal(made.status, 201)
  t.match(readFileSync(`/proc/${pidOf('api-2')}/environ`, 'utf8'), 'ALERT_TARGETS_ALLOWED=127.0.0.0/8')
  for (const name of ['api-1', 'api-2']) {
    const killed = pidOf(name)
    process.kill(killed, 'SIGKILL')
    await until(`${name} is started again`, () => lines.includes(`restarting ${name}`) && !isRunning(killed))
    await until('the other one serves', async () => (await statusOf(url)) === 200)
    await until(`${name} is another process`, () => pidIn(name) !== killed && isRunning(pidIn(name)))
    await until('the one at the address for administrators serves', async () => (await statusOf(admin.url)) === 200)
  }
  const killedMs = performance.now()
  for (const name of ['api-1', 'api-2']) process.kill(pidIn(name), 'SIGKILL')
  await until('neither serves', async () => (await statusOf(url)) !== 200)
  await until('one of them serves again', async () => (await statusOf(url)) === 200)
  t.comment(`a read is answered ${Math.round(performance.now() - killedMs)} ms after the kill of both`)
  await cluster.stop()
  t.equal(await cluster.ended, 0)
  t.equal(await statusOf(url), 0)
  const again = start()
  const second = await again.started
  const shown = await fetch(`${second.admin.url}/api/admin/devices/porch`, { headers: { authorization } })
  t.equal(shown.status, 200)
  await again.stop()
})
