/** Two nodes whose PostgreSQL is killed. Its synchronous standby is promoted, and the address leads to it. */

import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import t from 'tap'
import { Status } from '../../api/admin/status-answer.ts'
import { openDataDirectory } from '../../store/data-directory.ts'
import {
  type Cluster,
  launchIn,
  openCluster as openPostgres,
  superuser,
} from '../../store/postgres/postgres-cluster.ts'
import { makeClient } from '../../store/postgres/postgres-connect.ts'
import { freePort } from '../../store/process/free-port.ts'
import { createRandom } from '../faults/seeded-random.ts'
import { startTcpProxy } from '../faults/tcp-proxy.ts'
import { temporaryFolder } from '../support/databases.ts'
import { openCluster } from '../support/nodes.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const stopSteps = [{ signal: 'SIGQUIT', waitMs: 5000 } as const, { signal: 'SIGKILL', waitMs: 5000 } as const]

const directory = openDataDirectory(join(temporaryFolder(t), 'data'))
t.teardown(() => directory.close())
const primary = await openPostgres(directory, process.env, new AbortController().signal)
const [port, standbyPort] = [await freePort(), await freePort()]
const connectionTo = (at: number) => `postgresql://${superuser}:${primary.password}@127.0.0.1:${at}/postgres`

function launchPostgres(cluster: Cluster, at: number, settings: readonly string[]) {
  const address = [`port=${at}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=']
  const flags = [...address, ...settings].flatMap(setting => ['-c', setting])
  const server = launchIn(cluster, cluster.binaries.postgres, ['-D', cluster.data, ...flags], stopSteps)
  t.teardown(() => server.stop())
  return server
}

async function ask<Row>(at: number, text: string): Promise<Row[]> {
  const client = makeClient({ connectionString: connectionTo(at) })
  try {
    await client.connect()
    return (await client.query(text)).rows
  } finally {
    await client.end().catch(() => undefined)
  }
}

const standby = {
  ...primary,
  data: `${primary.data}-2`,
  recordPath: `${primary.recordPath}-2`,
  logPath: `${primary.logPath}-2`,
}
execFileSync('cp', ['-a', primary.data, standby.data])
const signalFile = join(standby.data, 'standby.signal')
writeFileSync(signalFile, '')
// The standby may run as another user, and syncs the file.
chmodSync(signalFile, 0o666)
const running = launchPostgres(primary, port, ['synchronous_standby_names=*', 'wal_keep_size=1GB'])
const source = `host=127.0.0.1 port=${port} user=${superuser} password=${primary.password}`
launchPostgres(standby, standbyPort, [`primary_conninfo=${source}`])
await waitFor('the standby is synchronous', async () => {
  const rows = await ask<{ state: string }>(port, 'SELECT sync_state AS state FROM pg_stat_replication').catch(() => [])
  return rows[0]?.state === 'sync'
})

const proxy = await startTcpProxy(t, port, createRandom(1))
const environment = { DATABASE_URL: connectionTo(proxy.port), NODE_LEASE_SECONDS: '3' }
const cluster = await openCluster(t, { environment })
const nodes = [await cluster.start(), await cluster.start()] as const

const put = async ({ put }: Service, device: string, secret: string) =>
  (await put(device, secret, { device, temperature: 20, humidity: 50, pressure: 1000 })).status
const readings = async (device: string, secret: string) => Promise.all(nodes.map(node => put(node, device, secret)))
const areTaken = async (device: string, secret: string) => (await readings(device, secret)).join() === '200,200'

t.test('both nodes and acknowledged changes survive a failover', async t => {
  const kept = await nodes[0].addDevice('kept')
  const gone = await nodes[1].addDevice('gone')
  await waitFor('both are let in', async () => (await areTaken('kept', kept)) && (await areTaken('gone', gone)))
  t.equal((await nodes[0].admin('DELETE', '/devices/gone')).status, 204)

  await running.stop()
  proxy.cut()
  await waitFor('no node has a lease', async () => (await readings('kept', kept)).join() === '503,503')
  await ask(standbyPort, 'SELECT pg_promote(true, 60)')
  proxy.target = standbyPort
  proxy.cut()
  const promotedMs = performance.now()
  await waitFor('both have a lease again', async () => await areTaken('kept', kept))
  t.comment(`both nodes take readings ${Math.round(performance.now() - promotedMs)} ms after the promotion`)

  t.strictSame(await readings('gone', gone), [401, 401], 'the removal was answered')
  const later = await nodes[1].addDevice('later')
  t.ok(await areTaken('later', later), 'a change is known to both')
  await waitFor('one of them leads', async () => {
    const { body } = await nodes[0].admin('GET', '/status')
    return Status.parse(body).nodes?.filter(({ leads }) => leads).length === 1
  })
})
