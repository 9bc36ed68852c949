/**
 * Processor time of a reading with a topic as the journal, by process, next to the service with its journal on local
 * segments: single readings over HTTP, and bulk bodies. The cost of a reading is the slope between runs of two sizes,
 * without the idle cost of the processes. The rest of a run is printed separately.
 */

import { median } from 'simple-statistics'
import type { Bounds } from './bounds.ts'
import { addKeys } from './bulk-load.ts'
import {
  bulkConnectionCount,
  type ClusterServices,
  createBulkSend,
  createSingleSend,
  type Receiver,
  type Send,
} from './cluster-services.ts'
import type { BenchKafka } from './kafka-brokers.ts'
import { type Hooks, round, sleep, spread } from './measure.ts'
import { type BenchService, startBenchService } from './service.ts'
import { costsOf, type ProcessTimes, processTimes, slopeOf, sumOf, timesSince } from './thread-times.ts'

export interface CostOptions {
  pairs: number
  /** The duration of the larger run of single readings. */
  seconds: number
  /** The size of the larger run of bulk bodies. */
  rows: number
  deviceCount: number
}

const smallShare = 0.25
const idleSeconds = 4
/** The limits cover both service processes together, without the broker. */
const timesMax = { 'single readings': 2.5, 'bulk bodies': 3 }
type Kind = keyof typeof timesMax

type Slopes = Record<string, ReturnType<typeof slopeOf>>

/** A service with its processes, and how much has been sent to it. */
interface Measured extends Receiver {
  pids: Record<string, number>
  /** The processor time of `idleSeconds` without readings. */
  idle: ProcessTimes
  sent: number
}

interface Run {
  rows: number
  times: ProcessTimes
}

export async function measureCosts(
  hooks: Hooks,
  bounds: Bounds,
  kafka: BenchKafka,
  services: ClusterServices,
  options: CostOptions,
): Promise<object> {
  const embeddedService = await startBenchService(hooks, options.deviceCount)
  const forwarder = await services.holder()
  const cluster = await measured(services.api, {
    api: pidOf(services.api.service),
    forwarder: pidOf(forwarder),
    broker: kafka.pid,
  })
  const embedded = await measured(embeddedService, { service: pidOf(embeddedService.service) })
  const both = { cluster, embedded }
  const { pairs } = options
  const single = await createSingleSend(hooks, options.seconds)
  const bulk = createBulkSend(options, runsOf(pairs))
  const found = {
    'single readings': await measure(bounds, 'single readings', single, both, pairs),
    'bulk bodies': await measure(bounds, 'bulk bodies', bulk, both, pairs),
  }
  const isWhole = async ({ service, sent }: Measured) => (await service.store.countRows(sent)) === sent
  bounds.must('all readings over HTTP are in QuestDB, once', (await isWhole(cluster)) && (await isWhole(embedded)))
  return found
}

async function measured(service: BenchService, pids: Record<string, number>): Promise<Measured> {
  const keys = await addKeys(service.environment['DATABASE_URL'] ?? '', bulkConnectionCount)
  // Late starts are complete after this pause.
  await sleep(idleSeconds * 1000)
  const before = processTimes(pids)
  await sleep(idleSeconds * 1000)
  return { service, pids, keys, idle: timesSince(before, processTimes(pids)), sent: 0 }
}

async function measure(
  bounds: Bounds,
  kind: Kind,
  send: Send,
  { cluster, embedded }: Record<'cluster' | 'embedded', Measured>,
  pairs: number,
): Promise<object> {
  const slopes: Slopes[] = []
  const embeddedSlopes: Slopes[] = []
  for (const to of [cluster, embedded]) await run(to, send, 1)
  for (let pair = 0; pair < pairs; pair++) {
    slopes.push(await slopesOf(cluster, send, pair))
    embeddedSlopes.push(await slopesOf(embedded, send, pair))
  }
  const perReading = (slope: Slopes[string] | undefined) => (slope === undefined ? 0 : sumOf(slope.perRow))
  const ours = slopes.map(({ api, forwarder }) => 1e6 * (perReading(api) + perReading(forwarder)))
  const yardstick = embeddedSlopes.map(({ service }) => 1e6 * perReading(service))
  const name = `${kind}, processor time of both processes, times the service with its own journal`
  // Uses medians over all runs, because the slope of a single pair can be near 0.
  bounds.atMost(name, median(ours) / median(yardstick), timesMax[kind], {
    readingUs: spread(ours),
    ownJournalReadingUs: spread(yardstick),
  })
  return { ...costsByName(cluster, slopes), ...costsByName(embedded, embeddedSlopes) }
}

/** Every other pair begins with the larger size, as code is compiled in the course of the runs. */
async function slopesOf(to: Measured, send: Send, pair: number): Promise<Slopes> {
  const isLargeFirst = pair % 2 === 1
  const first = await run(to, send, isLargeFirst ? 1 : smallShare)
  const second = await run(to, send, isLargeFirst ? smallShare : 1)
  const [small, large] = isLargeFirst ? [second, first] : [first, second]
  const of = ({ rows, times }: Run, name: string) => ({ rows, times: times[name] ?? {} })
  return Object.fromEntries(Object.keys(to.pids).map(name => [name, slopeOf(of(small, name), of(large, name))]))
}

/** The number of runs of a service and its baseline. */
function runsOf(pairs: number): number {
  return 2 * (1 + 2 * pairs)
}

/** Ends when QuestDB shows all rows. */
async function run(to: Measured, send: Send, share: number): Promise<Run> {
  const { pids, idle, service } = to
  const before = processTimes(pids)
  const startedMs = performance.now()
  const rows = await send(to, share)
  to.sent += rows
  const stored = await service.store.countRows(to.sent)
  if (stored !== to.sent) throw new Error(`${to.sent} readings were acknowledged, and QuestDB has ${stored}`)
  const seconds = (performance.now() - startedMs) / 1000
  return { rows, times: timesSince(idle, timesSince(before, processTimes(pids)), seconds / idleSeconds) }
}

/** The printed figures by process. */
function costsByName({ pids, idle }: Measured, slopes: readonly Slopes[]): object {
  const of = (name: string) => slopes.flatMap(each => each[name] ?? [])
  const costsOfProcess = (name: string) => ({
    ...costsOf(of(name)),
    idleMsPerSecond: round((1e3 * sumOf(idle[name] ?? {})) / idleSeconds),
  })
  return Object.fromEntries(Object.keys(pids).map(name => [name, costsOfProcess(name)]))
}

function pidOf({ child }: BenchService['service']): number {
  if (child.pid === undefined) throw new Error('a process does not run')
  return child.pid
}
