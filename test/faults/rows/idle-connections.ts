/** Row 24: more idle connections than the service may have files. It lives, serves those that it knows, and says so. */

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../support/processes.ts'
import { openRaw, type RawConnection } from '../../support/raw-connection.ts'
import { experiment, type Harness, type TestBed } from '../experiment.ts'
import type { Tally } from '../tally.ts'
import { complainOfSilence } from './questdb.ts'

/** Enough for QuestDB, which has the same limit. */
const filesMax = 768
const addresses = 40
const perAddress = 30
/** Longer than the logs of the databases go without a look at them. */
const floodMs = 12_000

export async function idleConnections(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    // The load comes as from a proxy, which may have any number of connections.
    const environment = { TRUST_PROXY: '127.0.0.1' }
    const options = { seed: seed + cycle, tally, ownDatabases: true, filesMax, environment, perSecond: 200 }
    await experiment(harness, options, async bed => {
      const { service, hooks } = bed
      const url = `http://127.0.0.1:${service.port}`
      const pid = service.pid()
      await until('readings are taken', () => bed.ledger().attempts.some(({ status }) => status === 200))
      const watcher = await openRaw(hooks, url)
      // A connection that has never said anything is let go after some seconds.
      const askReadiness = async (count: number) => {
        watcher.socket.write('GET /health/ready HTTP/1.1\r\nhost: x\r\n\r\n')
        await until('the readiness answers', () => watcher.answers() === count || watcher.socket.closed)
      }
      await askReadiness(1)
      const fromMs = Date.now()
      removeLogs(service.dataDirectory)
      const closed = await flood(bed, url)
      if (closed === 0) tally.problems.push('none of the connections was refused')
      await askReadiness(2)
      if (!watcher.received().includes('connections were refused')) {
        tally.problems.push(`readiness does not say that connections are refused: ${watcher.received()}`)
      }
      tally.notes.push(`${closed} idle connections were refused`)
      if (service.pid() !== pid || service.output().includes('"level":60')) tally.problems.push('the service has ended')
      await complainOfSilence(bed, fromMs)
      await until('a new connection is taken', () => isServed(url))
    })
  }
}

async function isServed(url: string): Promise<boolean> {
  const response = await fetch(`${url}/health/live`).catch(() => undefined)
  return response?.ok === true
}

/** How many were refused. */
async function flood({ hooks }: TestBed, url: string): Promise<number> {
  const untilMs = performance.now() + floodMs
  let refused = 0
  const idle: RawConnection[] = []
  while (performance.now() < untilMs) {
    for (let address = 1; address <= addresses; address++) {
      const opening = Array.from({ length: perAddress }, () => openRaw(hooks, url, `127.0.1.${address}`))
      idle.push(...(await Promise.all(opening)))
    }
    await sleep(500)
    refused = Math.max(refused, idle.filter(({ socket, answers }) => socket.closed && answers() === 0).length)
    // Those that say nothing are let go after some seconds, and come again.
    await sleep(floodMs / 2)
  }
  for (const { socket } of idle) socket.destroy()
  return refused
}

function removeLogs(dataDirectory: string): void {
  for (const path of ['questdb/questdb.log', 'postgres/postgres.log']) {
    const log = join(dataDirectory, path)
    if (!existsSync(log)) throw new Error(`there is no ${log}`)
    rmSync(log)
  }
}
