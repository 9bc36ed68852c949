/**
 * Processor time of a reading with one, two and four processes that take requests, and the wait of a revocation for a
 * killed process. Each process reads the whole topic, so a part of a reading's cost grows with their number.
 */

import { median } from 'simple-statistics'
import type { Bounds } from './bounds.ts'
import { addKeys } from './bulk-load.ts'
import type { CostOptions } from './cluster-costs.ts'
import {
  bulkConnectionCount,
  type ClusterServices,
  createBulkSend,
  createSingleSend,
  type Send,
} from './cluster-services.ts'
import type { BenchKafka } from './kafka-brokers.ts'
import { type Hooks, round, sleep, spread } from './measure.ts'
import { deviceName } from './service.ts'
import { type ProcessTimes, processTimes, sumOf, timesSince } from './thread-times.ts'

const counts = [1, 2, 4] as const
const smallShare = 0.25
const idleSeconds = 4
/** Compares four processes with one. */
const growthMax = 1.2
/** The service's default. */
const leaseSeconds = 3
const revocationSlackSeconds = 1

export interface Cluster {
  services: ClusterServices
  keys: readonly string[]
  kafkaPid: number
  sent: number
  /** The same as in BenchStore. */
  countRows(expected: number): Promise<number>
}

/** Microseconds per reading by kind of process. */
export type Costs = Record<'api' | 'forwarder' | 'broker', number>

export async function measureNodes(
  hooks: Hooks,
  bounds: Bounds,
  kafka: BenchKafka,
  services: ClusterServices,
  options: CostOptions,
): Promise<object> {
  const databaseUrl = services.api.environment['DATABASE_URL'] ?? ''
  const keys = await addKeys(databaseUrl, bulkConnectionCount)
  const { countRows } = services.api.store
  const cluster: Cluster = { services, keys, kafkaPid: kafka.pid, sent: 0, countRows }
  const sends = {
    'single readings': await createSingleSend(hooks, options.seconds),
    'bulk bodies': createBulkSend(options, runsOf(options.pairs)),
  }
  const found: Record<string, Record<number, Costs[]>> = { 'single readings': {}, 'bulk bodies': {} }
  for (const count of counts) {
    while (services.apis().length < count) await services.addApi()
    await sleep(idleSeconds * 1000)
    for (const [kind, send] of Object.entries(sends)) {
      const costs = await costsWith(cluster, send, options.pairs)
      const ofKind = found[kind]
      if (ofKind !== undefined) ofKind[count] = costs
    }
  }
  for (const [kind, byCount] of Object.entries(found)) boundGrowth(bounds, kind, byCount)
  bounds.must('all readings at all processes are in QuestDB, once', (await countRows(cluster.sent)) === cluster.sent)
  await boundRevocation(bounds, services)
  return { nodes: Object.fromEntries(Object.entries(found).map(([kind, byCount]) => [kind, costsByCount(byCount)])) }
}

/** A warm run and the pairs, of each number of processes, with a send to each. */
function runsOf(pairs: number): number {
  return counts.reduce((sum, count) => sum + count * (1 + 2 * pairs), 0)
}

/** One result per pair, after a warm-up run. */
export async function costsWith(cluster: Cluster, send: Send, pairs: number): Promise<Costs[]> {
  const idle = await idleTimes(cluster)
  await run(cluster, send, 1, idle)
  const costs: Costs[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const isLargeFirst = pair % 2 === 1
    const first = await run(cluster, send, isLargeFirst ? 1 : smallShare, idle)
    const second = await run(cluster, send, isLargeFirst ? smallShare : 1, idle)
    const [small, large] = isLargeFirst ? [second, first] : [first, second]
    const perReading = (name: keyof Costs) =>
      (1e6 * (large.seconds[name] - small.seconds[name])) / (large.rows - small.rows)
    costs.push({ api: perReading('api'), forwarder: perReading('forwarder'), broker: perReading('broker') })
  }
  return costs
}

async function idleTimes(cluster: Cluster): Promise<ProcessTimes> {
  const pids = await pidsOf(cluster)
  const before = processTimes(pids)
  await sleep(idleSeconds * 1000)
  return timesSince(before, processTimes(pids))
}

/** The readings go to one process after the other, while all of them read the topic. The run ends when QuestDB shows all. */
async function run(
  cluster: Cluster,
  send: Send,
  share: number,
  idle: ProcessTimes,
): Promise<{ rows: number; seconds: Costs }> {
  const { services, keys } = cluster
  const pids = await pidsOf(cluster)
  const before = processTimes(pids)
  const startedMs = performance.now()
  let rows = 0
  for (const { port } of services.apis()) {
    rows += await send({ service: { ...services.api, port }, keys }, share / services.apis().length)
  }
  cluster.sent += rows
  const stored = await cluster.countRows(cluster.sent)
  if (stored !== cluster.sent) throw new Error(`${cluster.sent} readings were acknowledged, and QuestDB has ${stored}`)
  const seconds = (performance.now() - startedMs) / 1000
  const times = timesSince(idle, timesSince(before, processTimes(pids)), seconds / idleSeconds)
  const sum = (kind: keyof Costs) =>
    Object.entries(times).reduce((total, [name, own]) => total + (name.startsWith(kind) ? sumOf(own) : 0), 0)
  return { rows, seconds: { api: sum('api'), forwarder: sum('forwarder'), broker: sum('broker') } }
}

async function pidsOf({ services, kafkaPid }: Cluster): Promise<Record<string, number>> {
  const { child } = await services.holder()
  const apis = services.apis().map(({ pid }, index) => [`api ${index + 1}`, pid])
  return { ...Object.fromEntries(apis), forwarder: child.pid ?? 0, broker: kafkaPid }
}

export const totalOf = ({ api, forwarder, broker }: Costs): number => api + forwarder + broker

function boundGrowth(bounds: Bounds, kind: string, byCount: Record<number, Costs[]>): void {
  const medianOf = (count: number) => median((byCount[count] ?? []).map(totalOf))
  bounds.atMost(
    `${kind}, processor time of a reading with four processes that take requests, times one`,
    medianOf(4) / medianOf(1),
    growthMax,
    { oneUs: round(medianOf(1)), twoUs: round(medianOf(2)), fourUs: round(medianOf(4)) },
  )
}

/** The printed figures by number of processes. */
export function costsByCount(byCount: Record<number, Costs[]>): object {
  const of = (costs: readonly Costs[], name: keyof Costs) => spread(costs.map(each => each[name]))
  return Object.fromEntries(
    Object.entries(byCount).map(([count, costs]) => [
      count,
      { apiUs: of(costs, 'api'), forwarderUs: of(costs, 'forwarder'), brokerUs: of(costs, 'broker') },
    ]),
  )
}

/** The killed node keeps its lease for a while: other nodes cannot know that it stopped accepting readings. */
async function boundRevocation(bounds: Bounds, services: ClusterServices): Promise<void> {
  const last = services.apis().at(-1)
  if (last === undefined) throw new Error('no process takes requests')
  process.kill(last.pid, 'SIGKILL')
  const startedMs = performance.now()
  const { status } = await services.api.service.admin(
    'POST',
    `/devices/${encodeURIComponent(deviceName(0))}/rotate?now=1`,
  )
  const seconds = (performance.now() - startedMs) / 1000
  if (status !== 200) throw new Error(`the password was not changed: ${status}`)
  bounds.atMost(
    'revocation beside a process that was killed, times the lease',
    seconds / leaseSeconds,
    (leaseSeconds + revocationSlackSeconds) / leaseSeconds,
    { seconds: round(seconds) },
  )
}
