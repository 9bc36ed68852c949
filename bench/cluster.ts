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
import { createBounds } from './bounds.ts'
import { measureBrokerLoss } from './broker-loss.ts'
import { measureCosts } from './cluster-costs.ts'
import { measureNodes } from './cluster-nodes.ts'
import { startClusterServices } from './cluster-services.ts'
import { measureTakeovers } from './forwarder-takeover.ts'
import { measureJournals } from './journal-rates.ts'
import { startBenchKafka } from './kafka-brokers.ts'
import { createHooks, type Hooks, hardware, round } from './measure.ts'
import { measureReplicaLoss } from './replica-loss.ts'

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
  hardware: hardware(),
})
