/** Processor time of a reading with one shard and with two, each with a QuestDB of its own, which one process takes requests for and one forwards. */

import { median } from 'simple-statistics'
import { openQuestdbSql } from '../test/faults/questdb-sql.ts'
import { startQuestdb } from '../test/support/questdb.ts'
import type { Bounds } from './bounds.ts'
import { addKeys } from './bulk-load.ts'
import type { CostOptions } from './cluster-costs.ts'
import { type Cluster, type Costs, costsWith, told, totalOf } from './cluster-nodes.ts'
import { bulkConnectionCount, createBulkSend, createSingleSend } from './cluster-sends.ts'
import { startClusterServices } from './cluster-services.ts'
import type { BenchKafka } from './kafka-brokers.ts'
import { createHooks, type Hooks, round } from './measure.ts'
import { countReadings } from './store.ts'

const counts = [1, 2] as const
type Count = (typeof counts)[number]
type CostsByCount = Record<number, Costs[]>
/** With two shards, times one: a body is cut, and there are twice as many groups of half the size. */
const growthMax = 1.5

export async function measureShards(bounds: Bounds, kafka: BenchKafka, options: CostOptions): Promise<object> {
  const single: CostsByCount = {}
  const bulk: CostsByCount = {}
  for (const count of counts) {
    const { hooks, closeAll } = createHooks()
    try {
      const cluster = await openCluster(hooks, kafka, options, count)
      single[count] = await costsWith(cluster, await createSingleSend(hooks, options.seconds), options.pairs)
      bulk[count] = await costsWith(cluster, createBulkSend(options, 1 + 2 * options.pairs), options.pairs)
      const name = `all readings of ${count} shards are in QuestDB, once`
      bounds.must(name, (await cluster.countRows(cluster.sent)) === cluster.sent)
    } finally {
      await closeAll()
    }
  }
  boundGrowth(bounds, 'single readings', single)
  boundGrowth(bounds, 'bulk bodies', bulk)
  return { shards: { 'single readings': told(single), 'bulk bodies': told(bulk) } }
}

async function openCluster(hooks: Hooks, kafka: BenchKafka, options: CostOptions, count: Count): Promise<Cluster> {
  const second = count === 1 ? undefined : (await startQuestdb(hooks)).address
  const services = await startClusterServices(hooks, kafka, options.deviceCount, `bench-shards-${count}-`, second)
  const { store, environment } = services.api
  const queries = [store.query, ...(second === undefined ? [] : [openQuestdbSql(second)])]
  return {
    services,
    keys: await addKeys(environment['DATABASE_URL'] ?? '', bulkConnectionCount),
    kafkaPid: kafka.pid,
    sent: 0,
    countRows: expected => countReadings(queries, expected),
  }
}

function boundGrowth(bounds: Bounds, kind: string, byCount: CostsByCount): void {
  const medianOf = (count: Count) => median((byCount[count] ?? []).map(totalOf))
  bounds.atMost(
    `${kind}, processor time of a reading with two shards, times one`,
    medianOf(2) / medianOf(1),
    growthMax,
    { oneUs: round(medianOf(1)), twoUs: round(medianOf(2)) },
  )
}
