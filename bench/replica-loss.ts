/** Reads at a process while the QuestDB that it reads is killed, and frozen: another replica answers. */

import { join } from 'node:path'
import { openDataDirectory } from '../store/data-directory.ts'
import { replicaSetting, startFaultQuestdb } from '../test/faults/databases.ts'
import { temporaryFolder } from '../test/support/databases.ts'
import { freeze } from '../test/support/frozen.ts'
import { until } from '../test/support/processes.ts'
import type { Service } from '../test/support/service.ts'
import type { Bounds } from './bounds.ts'
import { startClusterServices } from './cluster-services.ts'
import type { BenchKafka } from './kafka-brokers.ts'
import { type Hooks, round, sleep } from './measure.ts'

const readers = 8
const readings = 200
const beforeMs = 2000
const afterMs = 12_000
/** `probeTimeoutMs` of QuestDB, and `probeEveryMs`. */
const probeSeconds = 4
const probesMax = 1.5

interface Read {
  startMs: number
  endMs: number
  status: number
}

export async function measureReplicaLoss(hooks: Hooks, bounds: Bounds, kafka: BenchKafka): Promise<object> {
  const directory = openDataDirectory(join(temporaryFolder(hooks), 'second'))
  hooks.teardown(() => directory.close())
  const second = await startFaultQuestdb(hooks, directory)
  const settings = { QUESTDB_REPLICAS: replicaSetting(second.address), QUESTDB_READ: '2' }
  const { api } = await startClusterServices(hooks, kafka, 1, 'bench-replicas-', settings)
  const { service } = api
  const device = 'read'
  const password = await service.addDevice(device)
  const url = `${service.url}/api/readings/${device}?start=${new Date().toISOString()}&format=ndjson`
  for (let sent = 0; sent < readings; sent++) {
    const reading = { device, temperature: 20, humidity: 50, pressure: 1000 }
    if ((await service.put(device, password, reading)).status !== 200) throw new Error('a reading was refused')
  }
  const rowsOf = async () => (await (await fetch(url)).text()).split('\n').length - 1
  await until('all readings are shown', async () => (await rowsOf()) === readings)

  const figures: Record<string, object> = {}
  const ways = { killed: async () => second.kill(), frozen: async () => freeze(second.pid()) }
  for (const [way, strike] of Object.entries(ways)) {
    await until('replica 2 is read', async () => (await rowsOf()) === readings && (await isRead(service)))
    let isOver = false
    const running = Promise.all(Array.from({ length: readers }, () => readUntil(url, () => isOver)))
    await sleep(beforeMs)
    const struckMs = performance.now()
    const thaw = await strike()
    await sleep(afterMs)
    isOver = true
    thaw?.()
    const reads = (await running).flat().sort((one, other) => one.endMs - other.endMs)
    figures[way] = figureOf(bounds, way, reads, struckMs)
  }
  return { replicaLoss: figures }
}

function figureOf(bounds: Bounds, way: string, reads: readonly Read[], struckMs: number): object {
  const isGood = ({ status }: Read) => status === 200
  const next = reads.find(read => isGood(read) && read.startMs > struckMs)
  const nextSeconds = ((next?.endMs ?? Number.POSITIVE_INFINITY) - struckMs) / 1000
  const slowestSeconds = Math.max(...reads.map(({ startMs, endMs }) => endMs - startMs)) / 1000
  const errors = reads.filter(read => !isGood(read)).length
  bounds.atMost(
    `replica ${way}, until the next read is answered with 200, times the time of a probe`,
    nextSeconds / probeSeconds,
    probesMax,
    { seconds: round(nextSeconds), errors, reads: reads.length, slowestSeconds: round(slowestSeconds) },
  )
  bounds.must(`replica ${way}: not more errors than reads under way`, errors <= readers)
  return { nextSeconds: round(nextSeconds), errors, reads: reads.length, slowestSeconds: round(slowestSeconds) }
}

async function readUntil(url: string, isOver: () => boolean): Promise<Read[]> {
  const reads: Read[] = []
  while (!isOver()) {
    const startMs = performance.now()
    const status = await statusOf(url)
    reads.push({ startMs, endMs: performance.now(), status })
    await sleep(20)
  }
  return reads
}

/** 0 for an answer that was cut. */
async function statusOf(url: string): Promise<number> {
  try {
    const response = await fetch(url)
    await response.text()
    return response.status
  } catch {
    return 0
  }
}

async function isRead({ admin }: Service): Promise<boolean> {
  const { body } = await admin('GET', '/status')
  const { kafka } = body as { kafka: { replicas: { number: number; is_read: boolean }[] } }
  return kafka.replicas.some(({ number, is_read }) => number === 2 && is_read)
}
