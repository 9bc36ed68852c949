/** Row 9: PostgreSQL is killed, frozen, or out of connections. Known devices never notice, with metrics that are known of them. */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { freeze } from '../../support/frozen.ts'
import { until } from '../../support/processes.ts'
import { experiment, type Harness, type TestBed } from '../experiment.ts'
import type { Tally } from '../tally.ts'
import { complainOfSilence } from './questdb.ts'

const killsPerExperiment = 10

export async function killPostgres(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let done = 0; done < cycles; done += killsPerExperiment) {
    await experiment(harness, { seed: seed + done, tally }, async bed => {
      const fromMs = Date.now()
      for (let kill = 0; kill < Math.min(killsPerExperiment, cycles - done); kill++) {
        await sleep(300 + bed.random.below(1500))
        await bed.databases.kill('postgres')
        tally.crashes++
        await untilRevoked(bed)
      }
      await complainOfSilence(bed, fromMs)
    })
  }
}

/** A revocation that returned holds, whatever happens around it. */
async function untilRevoked(bed: TestBed): Promise<void> {
  const [first, ...others] = bed.devices.slice(1, -1)
  if (first === undefined) return
  const device = bed.random.pick([first, ...others]).name
  const before = bed.revocations()
  await until('a password can be changed', async () => {
    await bed.revoke(device)
    return bed.revocations() > before
  })
}

const frozenMs = 15_000

/** A device's first value of a metric waits for PostgreSQL. */
async function untilMetricsAreKnown({ databases, hooks }: TestBed): Promise<void> {
  const client = new pg.Client({ connectionString: databases.postgresUrl })
  hooks.teardown(() => client.end().catch(() => undefined))
  client.on('error', () => undefined)
  await client.connect()
  let known = -1
  await until('no device has a new metric', async () => {
    await sleep(1000)
    const before = known
    const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM metric_series')
    known = rows[0]?.count ?? 0
    return known > 0 && known === before
  })
}

export async function freezePostgres(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await experiment(harness, { seed: seed + cycle, tally }, async bed => {
      await untilMetricsAreKnown(bed)
      const fromMs = Date.now()
      const thaw = freeze(bed.databases.pid('postgres'))
      bed.hooks.teardown(thaw)
      await sleep(frozenMs)
      thaw()
      await untilRevoked(bed)
      await complainOfSilence(bed, fromMs)
    })
  }
}

/** Its backends are terminated, and then all of its connections are somebody else's. */
export async function exhaustPostgres(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await experiment(harness, { seed: seed + cycle, tally }, async bed => {
      const fromMs = Date.now()
      const clients = await takeAllConnections(bed)
      await clients[0]?.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
      clients.push(...(await takeAllConnections(bed)))
      await sleep(2000)
      await Promise.all(clients.map(client => client.end().catch(() => undefined)))
      await untilRevoked(bed)
      await complainOfSilence(bed, fromMs)
    })
  }
}

async function takeAllConnections({ databases, hooks }: TestBed): Promise<pg.Client[]> {
  const clients: pg.Client[] = []
  hooks.teardown(() => Promise.all(clients.map(client => client.end().catch(() => undefined))))
  for (;;) {
    const client = new pg.Client({ connectionString: databases.postgresUrl })
    client.on('error', () => undefined)
    try {
      await client.connect()
    } catch {
      return clients
    }
    clients.push(client)
  }
}
