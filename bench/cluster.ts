/**
 * Kafka as the journal: the journal on a topic against the same journal on local segments, the processor time of a
 * reading by process, with one and several that take requests, the time until another process forwards in place of a
 * killed or frozen one, the time until another replica serves reads, and the pause of acknowledgements when the leader
 * of three brokers is killed. Verifies that all acknowledged readings are stored once.
 *
 * Usage: node bench/cluster.ts [--only journals,costs,takeover,nodes,replicas,loss] [--pairs 3] [--seconds 3] [--batch
 * 10000] [--rows 800000] [--devices 1000] [--takeovers 1]
 */

import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { median } from 'simple-statistics'
import { type Bounds, createBounds } from './bounds.ts'
import { measureCosts } from './cluster-costs.ts'
import { measureBrokerLoss, measureReplicaLoss, measureTakeovers } from './cluster-failures.ts'
import { measureNodes } from './cluster-nodes.ts'
import { startClusterServices } from './cluster-services.ts'
import { type JournalRun, Ledger, type LoadOptions, loadBatches, loadReadings } from './journal-load.ts'
import {
  type BenchKafka,
  openLocalJournal,
  openTopicJournal,
  type ReadingsJournal,
  startBenchKafka,
} from './kafka-brokers.ts'
import { createHooks, type Hooks, ratios, round, spread } from './measure.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'journals,costs,takeover,nodes,replicas,loss' },
    pairs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    batch: { type: 'string', default: '10000' },
    rows: { type: 'string', default: '800000' },
    devices: { type: 'string', default: '1000' },
    takeovers: { type: 'string', default: '1' },
  },
})
const parts = new Set(options.only.split(','))
const pairs = Number(options.pairs)
const seconds = Number(options.seconds)
const deviceCount = Number(options.devices)
const [load = 0] = loadavg()
const bounds = createBounds()
const startedMs = performance.now()

/** The processes of one broker have ended before three start. */
async function onOneBroker(): Promise<object> {
  const { hooks, closeAll } = createHooks()
  try {
    const kafka = await startBenchKafka(hooks, 1)
    if (parts.has('journals')) await measureJournals(bounds, kafka, { pairs, seconds, rowsEach: Number(options.batch) })
    const costOptions = { pairs, seconds, rows: Number(options.rows), deviceCount }
    const replicas = parts.has('replicas') ? await withOwnServices(own => measureReplicaLoss(own, bounds, kafka)) : {}
    const onNodes = async (own: Hooks) => {
      const services = await startClusterServices(own, kafka, deviceCount, 'bench-nodes-')
      return await measureNodes(own, bounds, kafka, services, costOptions)
    }
    const nodes = { ...replicas, ...(parts.has('nodes') ? await withOwnServices(onNodes) : {}) }
    if (!parts.has('costs') && !parts.has('takeover')) return nodes
    const services = await startClusterServices(hooks, kafka, deviceCount)
    const costs = parts.has('costs') ? await measureCosts(hooks, bounds, kafka, services, costOptions) : {}
    if (parts.has('takeover')) await measureTakeovers(bounds, services, Number(options.takeovers))
    return { costs, ...nodes }
  } finally {
    await closeAll()
  }
}

/** They have ended before others start. */
async function withOwnServices(measure: (hooks: Hooks) => Promise<object>): Promise<object> {
  const { hooks, closeAll } = createHooks()
  try {
    return await measure(hooks)
  } finally {
    await closeAll()
  }
}

interface RatesOptions {
  pairs: number
  seconds: number
  rowsEach: number
}

const readingsInFlight = 64
const batchesInFlight = 4
const readingsMin = 0.25
const p50Max = 5
const batchesMin = 0.2
const warmSeconds = 1

/** The journal on a topic of one broker against the same journal on local segments, in turns: single readings, and batches. */
async function measureJournals(bounds: Bounds, kafka: BenchKafka, options: RatesOptions): Promise<void> {
  const single = await inTurns(kafka, 'bench-single', readingsInFlight, loadReadings, options)
  compareRates(bounds, 'journal on a topic, readings a second', single, readingsMin)
  const p50s = single.runs.map(({ ours }) => ours.p50Ms)
  const localP50s = single.runs.map(({ yardstick }) => yardstick.p50Ms)
  const all = ratios(p50s, localP50s)
  bounds.atMost('journal on a topic, p50, times on local segments', median(all), p50Max, {
    ratios: spread(all),
    p50Ms: spread(p50s),
    localP50Ms: spread(localP50s),
  })
  const { rowsEach } = options
  const loadRows = (load: LoadOptions) => loadBatches({ ...load, rowsEach })
  const batches = await inTurns(kafka, 'bench-batches', batchesInFlight, loadRows, options)
  compareRates(bounds, `journal on a topic, batches of ${rowsEach}, readings a second`, batches, batchesMin)
  bounds.must('all that the journals on a topic acknowledged is there, once', single.isWhole && batches.isWhole)
}

interface Turns {
  runs: { ours: JournalRun; yardstick: JournalRun }[]
  recordsPerGroup: number
  localRecordsPerGroup: number
  isWhole: boolean
}

function compareRates(bounds: Bounds, name: string, { runs, isWhole: _, ...groups }: Turns, min: number): void {
  const rates = runs.map(({ ours }) => ours.perSecond)
  const localRates = runs.map(({ yardstick }) => yardstick.perSecond)
  const all = ratios(rates, localRates)
  bounds.atLeast(`${name}, times on local segments`, median(all), min, {
    ratios: spread(all),
    perSecond: spread(rates),
    localPerSecond: spread(localRates),
    ...groups,
  })
}

async function inTurns(
  kafka: BenchKafka,
  topic: string,
  inFlight: number,
  load: (options: LoadOptions) => Promise<JournalRun>,
  { pairs, seconds }: RatesOptions,
): Promise<Turns> {
  const { hooks, closeAll } = createHooks()
  try {
    const { journal, partition } = await openTopicJournal(hooks, kafka, topic)
    const local = openLocalJournal(hooks)
    const [ledger, localLedger] = [new Ledger(), new Ledger()]
    const run = (of: ReadingsJournal, numbers: Ledger, forSeconds: number) => {
      const endMs = performance.now() + forSeconds * 1000
      return load({ journal: of, ledger: numbers, inFlight, isOver: () => performance.now() > endMs })
    }
    const runBoth = async (forSeconds: number) => {
      const ours = await run(journal, ledger, forSeconds)
      const yardstick = await run(local, localLedger, forSeconds)
      const refused = { ...ours.refused, ...yardstick.refused }
      if (Object.keys(refused).length > 0) throw new Error(`not all were taken: ${JSON.stringify(refused)}`)
      return { ours, yardstick }
    }
    await runBoth(warmSeconds)
    const runs: Turns['runs'] = []
    for (let pair = 0; pair < pairs; pair++) runs.push(await runBoth(seconds))
    return {
      runs,
      recordsPerGroup: recordsPerGroup(journal),
      localRecordsPerGroup: recordsPerGroup(local),
      isWhole: await ledger.isIn(partition),
    }
  } finally {
    await closeAll()
  }
}

function recordsPerGroup(journal: ReadingsJournal): number {
  const { records, groups } = journal.status()
  return round(records / groups)
}

const costs = await onOneBroker()
const loss = parts.has('loss') ? await measureBrokerLoss(bounds) : {}
bounds.conclude({
  bench: 'cluster',
  pairs,
  ...costs,
  ...loss,
  load: round(load),
  loadAfter: round(loadavg()[0] ?? 0),
  seconds: round((performance.now() - startedMs) / 1000),
})
