/**
 * A PostgreSQL that stands in for an external one: it listens on a port of the loopback. It has a service's schema
 * unless it is for a first start.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openDataDirectory } from '../../store/data-directory.ts'
import { launchIn, openCluster, superuser } from '../../store/postgres/postgres-cluster.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import { freePort } from '../../store/process/free-port.ts'
import { closing, dataDirectoryPath, type TestHooks } from './databases.ts'

export async function startTcpPostgres(t: TestHooks, { isFirstStart = false } = {}) {
  const directory = closing(t, openDataDirectory(await dataDirectoryPath(t, isFirstStart)))
  const cluster = await openCluster(directory, process.env, new AbortController().signal)
  const port = await freePort()
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=']
  const flags = settings.flatMap(setting => ['-c', setting])
  const stopSteps = [{ signal: 'SIGQUIT', waitMs: 5000 } as const, { signal: 'SIGKILL', waitMs: 5000 } as const]
  const address = { host: '127.0.0.1', port, user: superuser, password: cluster.password, database: 'postgres' }
  const start = async () => {
    const server = launchIn(cluster, cluster.binaries.postgres, ['-D', cluster.data, ...flags], stopSteps)
    t.teardown(() => server.stop())
    while (!(await answers(address))) {
      const end = server.ended()
      if (end !== undefined) throw new Error(`PostgreSQL has ended: ${end}`)
      await sleep(20)
    }
    return server
  }
  let server = await start()
  /** Connected clients get no message. */
  const restart = async () => {
    await server.stop()
    server = await start()
  }
  return { ...address, url: `postgresql://${superuser}:${cluster.password}@127.0.0.1:${port}/postgres`, restart }
}

async function answers(address: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client(address)
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch (error) {
    if (!isUnavailable(error)) throw error
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}
