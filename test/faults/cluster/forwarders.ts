/** The two forwarders of an experiment: one holds the shard, the other one stands by, or holds the second shard. */

import { join } from 'node:path'
import { freePort } from '../../../store/process/free-port.ts'
import { isRunning, until } from '../../support/processes.ts'
import { settingsFor } from '../databases.ts'
import type { Harness, TestBed } from '../experiment.ts'
import { createServiceProcess, type ServiceProcess } from '../service-process.ts'
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts'
import type { FaultKafka } from './fault-kafka.ts'

export interface Forwarder extends ServiceProcess {
  /** Its way to the QuestDB of shard 1. */
  link: TcpProxy
}

/** A frozen one gives no answer. */
const answerMs = 2000

export async function startForwarders(
  harness: Harness,
  kafka: FaultKafka,
  bed: TestBed,
  environment: Readonly<Record<string, string>>,
): Promise<Forwarder[]> {
  const forwarders: Forwarder[] = []
  for (const name of ['forwarder-1', 'forwarder-2']) {
    const link = await startTcpProxy(bed.hooks, bed.databases.questdb.http.port, bed.random)
    const service = createServiceProcess(bed.hooks, {
      source: harness.source,
      port: await freePort(),
      dataDirectory: join(bed.folder, name),
      environment: { ...settingsFor(bed.databases, link.port), ...kafka.settings.forward, ...environment },
      words: ['--role', 'forward'],
    })
    await service.start()
    forwarders.push({ ...service, link })
  }
  return forwarders
}

/** Waits until one of them holds the shard. */
export async function holderOf(forwarders: readonly Forwarder[], shard = 1): Promise<Forwarder> {
  let holder: Forwarder | undefined
  await until(`a forwarder holds shard ${shard}`, async () => {
    for (const forwarder of forwarders) if (await isHolder(forwarder, shard)) holder = forwarder
    return holder !== undefined
  })
  return holder as Forwarder
}

/** That of shard 1. */
export async function standbyOf(forwarders: readonly Forwarder[]): Promise<Forwarder> {
  const holder = await holderOf(forwarders)
  return forwarders.find(forwarder => forwarder !== holder) as Forwarder
}

async function isHolder(forwarder: Forwarder, shard: number): Promise<boolean> {
  if (!isRunning(forwarder.pid())) return false
  try {
    const response = await fetch(`http://127.0.0.1:${forwarder.port}/metrics`, {
      headers: { authorization: `Bearer ${forwarder.adminToken()}` },
      signal: AbortSignal.timeout(answerMs),
    })
    return (await response.text()).includes(`\nbarograph_shard_held{shard="${shard}"} 1\n`)
  } catch {
    return false
  }
}
