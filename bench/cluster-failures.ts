/** Failures for `bench/cluster.ts`: loss of a replica, of the forwarding process, and of a broker. */

import { join } from 'node:path'
import { max } from 'simple-statistics'
import { openDataDirectory } from '../store/data-directory.ts'
import { readingsTable } from '../store/tables.ts'
import { replicaSetting, startFaultQuestdb } from '../test/faults/databases.ts'
import { temporaryFolder } from '../test/support/databases.ts'
import { freeze } from '../test/support/frozen.ts'
import { isRunning, until } from '../test/support/processes.ts'
import type { Service } from '../test/support/service.ts'
import type { Bounds } from './bounds.ts'
import { type ClusterServices, startClusterServices } from './cluster-services.ts'
import { Ledger, loadReadings } from './journal-load.ts'
import { type BenchKafka, openTopicJournal, startBenchKafka } from './kafka-brokers.ts'
import { createHooks, type Hooks, round, sleep } from './measure.ts'

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

/** `idle_session_timeout` of the session that has the lock. */
const takeoverSessionSeconds = 5
const sessionsMax = 2
const pollMs = 20
const settleMs = 3000
/** Higher than all other temperatures in the bench. */
const markAbove = 45

/** The process that forwards is killed, and frozen: when the one that stands by has taken a reading to QuestDB that came after that. */
export async function measureTakeovers(bounds: Bounds, services: ClusterServices, runs: number): Promise<void> {
  const device = 'takeover'
  const password = await services.api.service.addDevice(device)
  let sent = 0
  const count = async () => {
    const sql = `SELECT count() FROM ${readingsTable} WHERE temperature > ${markAbove}`
    return Number((await services.api.store.query(sql))[0]?.[0])
  }
  const put = async () => {
    const reading = { device, temperature: markAbove + 1, humidity: 50, pressure: 1000 }
    const { status } = await services.api.service.put(device, password, reading)
    if (status !== 200) throw new Error(`a reading was answered with ${status}`)
    sent++
  }
  const untilShown = async () => {
    while ((await count()) < sent) await sleep(pollMs)
  }

  async function takeover(stop: (holder: Service) => void): Promise<number> {
    const holder = await services.holder()
    await services.addForwarder()
    await put()
    await untilShown()
    const startedMs = performance.now()
    stop(holder)
    await put()
    await untilShown()
    const seconds = (performance.now() - startedMs) / 1000
    // One that was frozen goes on, finds that it has lost the replica, and stands by.
    holder.child.kill('SIGCONT')
    await sleep(settleMs)
    await endOf(holder)
    return seconds
  }

  const waysOf = { killed: 'SIGKILL', frozen: 'SIGSTOP' } as const
  for (const [way, signal] of Object.entries(waysOf)) {
    const seconds: number[] = []
    for (let run = 0; run < runs; run++) seconds.push(await takeover(({ child }) => void child.kill(signal)))
    const name = `forwarder ${way}, until a later reading is in QuestDB, times the session timeout of the lock`
    bounds.atMost(name, max(seconds) / takeoverSessionSeconds, sessionsMax, { seconds: seconds.map(round) })
  }
  bounds.must('all readings around takeovers are stored, once', (await count()) === sent)
}

async function endOf({ child, end }: Service): Promise<void> {
  if (isRunning(child.pid ?? 0)) await end('SIGTERM')
}

const inFlight = 64
const beforeSeconds = 3
/** Counted from the first acknowledgement without the broker. */
const afterSeconds = 3
const waitSecondsMax = 60
/** `broker.session.timeout.ms` of three brokers. */
const sessionSeconds = 9

/** Kills the leader among three brokers while readings arrive. */
export async function measureBrokerLoss(bounds: Bounds): Promise<object> {
  const { hooks, closeAll } = createHooks()
  try {
    const kafka = await startBenchKafka(hooks, 3)
    const topic = 'bench-loss'
    const { journal, partition } = await openTopicJournal(hooks, kafka, topic)
    const ledger = new Ledger()
    let isOver = false
    const running = loadReadings({ journal, ledger, inFlight, isOver: () => isOver })
    await sleep(beforeSeconds * 1000)
    const leader = (await kafka.kafka.admin.partitions(topic))?.[0]?.leader
    const broker = kafka.brokers.find(({ address }) => address === `${leader?.host}:${leader?.port}`)
    if (broker === undefined) throw new Error('no broker leads the topic')
    await broker.kill()
    const { records: atKill } = journal.status()
    await sleep(afterSeconds * 1000)
    for (let waited = 0; journal.status().records <= atKill + inFlight && waited < waitSecondsMax; waited++) {
      await sleep(1000)
    }
    await sleep(afterSeconds * 1000)
    isOver = true
    const run = await running
    const seconds = run.pauseMs / 1000
    const name = 'leader killed, longest pause between acknowledgements, times the session timeout of brokers'
    const more = { seconds: round(seconds), perSecond: round(run.perSecond), refused: run.refused }
    bounds.atMost(name, seconds / sessionSeconds, sessionsMax, more)
    bounds.must('all that was acknowledged is in the topic of three brokers, once', await ledger.isIn(partition))
    return { acknowledged: run.acknowledged, refused: run.refused }
  } finally {
    await closeAll()
  }
}
