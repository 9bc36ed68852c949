/**
 * Makes metrics and series at their discovery, when a device first sends them. Calls during a transaction share the
 * next one, so each is made once and a fleet's first readings take a few transactions.
 */

import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { metricsMax, metricsOfOwnersMax, metricsPerDeviceMax } from '../../store/metrics/metric.ts'
import { metricNameOf } from '../../store/metrics/metric-name.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { ChangeFeed } from '../nodes/change-feed.ts'
import { ChangeInDoubt } from '../record-cache.ts'
import { TooBusy } from '../too-busy.ts'
import type { MetricCommits } from './metric-commits.ts'
import type { MetricMemory } from './metric-memory.ts'
import {
  countMetrics,
  countOwned,
  idsOf,
  insertMetrics,
  insertSeries,
  type MetricFields,
  type MetricRow,
  metricFields,
  readMetricsNamed,
  type SeriesRow,
} from './metric-rows.ts'

/** A field that a device has sent. */
export interface Sighting {
  device: number
  field: string
  /** The account of the device; null or undefined for a device without one. */
  owner?: number | null
}

/**
 * Reason why a field is not stored. `TOO_MANY_METRICS` is the limit of all metrics, `TOO_MANY_OF_OWNER` the limit of
 * metrics that readings of one owner's devices make.
 */
type SightingRefusal = 'NAME_INVALID' | 'UNDECLARED' | 'TOO_MANY_METRICS' | 'TOO_MANY_OF_OWNER' | 'TOO_MANY_OF_DEVICE'

export interface MetricDiscovery {
  /**
   * Makes missing metrics and series within the limits. Then `series` has the number, or `refusalOf` the reason.
   * `later` while nothing can be made. `by` is the sender for the audit.
   */
  ensure(sightings: readonly Sighting[], by: string): Promise<'done' | 'later'>
  /** Undefined for a field that exists or can be made. Reads memory. */
  refusalOf(sighting: Sighting): SightingRefusal | undefined
}

export interface MetricDiscoveryOptions {
  memory: MetricMemory
  feed: ChangeFeed
  commits: Pick<MetricCommits, 'exclusively' | 'transact'>
  /** True if an unknown field makes a metric. */
  isOpen: boolean
  /** Limit of metrics that readings of one account's devices make, apart from the catalogue's. */
  perOwner: number
  failed: (error: unknown) => void
}

interface Missing {
  device: number
  name: string
  /** Account whose limit the metric counts towards. */
  owner: number | null
  by: string
}

interface Batch {
  readonly missing: Map<string, Missing>
  readonly done: Promise<'done' | 'later'>
}

/** Limit for one transaction. */
const missingMax = 10_000

export function createMetricDiscovery(options: MetricDiscoveryOptions): MetricDiscovery {
  const { memory, commits, isOpen, perOwner, failed } = options
  let next: Batch | undefined

  function isThere({ device, field }: Sighting): boolean {
    const metric = memory.find(field)
    return metric !== undefined && (metric.built_in || memory.seriesOf(device, metric.id) !== undefined)
  }

  function metricRefusal({ field, owner = null }: Sighting): SightingRefusal | undefined {
    if (memory.find(field) !== undefined) return undefined
    const name = newNameOf(field)
    if (name === undefined) return 'NAME_INVALID'
    if (!isOpen) return 'UNDECLARED'
    if (memory.size() >= metricsMax) return 'TOO_MANY_METRICS'
    const account = accountOf(name, owner)
    if (account === null) return undefined
    const hasRoom = memory.ownedBy(account) < perOwner && memory.ownedCount() < metricsOfOwnersMax
    return hasRoom ? undefined : 'TOO_MANY_OF_OWNER'
  }

  function refusalOf(sighting: Sighting): SightingRefusal | undefined {
    if (isThere(sighting)) return undefined
    const hasRoom = memory.seriesCount(sighting.device) < metricsPerDeviceMax
    return metricRefusal(sighting) ?? (hasRoom ? undefined : 'TOO_MANY_OF_DEVICE')
  }

  function missingOf(sightings: readonly Sighting[], by: string): Missing[] {
    return sightings.flatMap(sighting => {
      const { device, field, owner = null } = sighting
      const name = memory.find(field)?.name ?? newNameOf(field)
      if (name === undefined || isThere(sighting) || refusalOf(sighting) !== undefined) return []
      return [{ device, name, owner: accountOf(name, owner), by }]
    })
  }

  function startBatch(): Batch {
    const missing = new Map<string, Missing>()
    const leave = () => {
      if (next?.missing === missing) next = undefined
    }
    const make = () => {
      leave()
      return makeMissing(options, [...missing.values()])
    }
    const done = commits.exclusively(make).then(
      () => 'done' as const,
      error => {
        leave()
        if (!isPassing(error)) throw error
        failed(error)
        return 'later' as const
      },
    )
    return { missing, done }
  }

  return {
    async ensure(sightings, by) {
      const missing = missingOf(sightings, by)
      if (missing.length === 0) return 'done'
      next ??= startBatch()
      const { missing: waiting, done } = next
      if (waiting.size + missing.length > missingMax) return 'later'
      for (const one of missing) {
        const key = `${one.device} ${one.name}`
        if (!waiting.has(key)) waiting.set(key, one)
      }
      return await done
    },
    refusalOf,
  }
}

type MakerOptions = Pick<MetricDiscoveryOptions, 'memory' | 'feed' | 'commits' | 'perOwner'>

/** Runs exclusively: in PostgreSQL, then in memory. */
async function makeMissing(options: MakerOptions, missing: readonly Missing[]): Promise<void> {
  const { memory, feed, commits, perOwner } = options
  const wanted = withinDevices(memory, missing)
  if (wanted.length === 0) return
  const made = await commits.transact(async transaction => {
    const metrics = await makeMetrics(memory, transaction, wanted, perOwner)
    const byName = new Map(metrics.map(metric => [metric.name, metric]))
    const pairs = wanted.flatMap(({ device, name }) => {
      const metric = memory.get(name) ?? byName.get(name)
      return metric === undefined || metric.built_in ? [] : [{ device, metric: metric.id }]
    })
    const series: SeriesRow[] = pairs.length === 0 ? [] : await insertSeries(transaction, pairs, metricsPerDeviceMax)
    // Other nodes apply these on notification, so this call does not wait.
    if (metrics.length > 0) feed.note(transaction, 'metric', idsOf(metrics))
    if (series.length > 0) feed.note(transaction, 'series', [...new Set(series.map(({ device }) => device))])
    return { metrics, series }
  })
  for (const metric of made.metrics) memory.apply(metric)
  for (const row of made.series) memory.applySeries(row)
}

/** Leaves out fields beyond their device's limit, so that no unused metric is made. */
function withinDevices(memory: MetricMemory, missing: readonly Missing[]): Missing[] {
  const counts = new Map<number, number>()
  return missing.filter(({ device, name }) => {
    const metric = memory.get(name)
    if (metric !== undefined && memory.seriesOf(device, metric.id) !== undefined) return false
    const count = counts.get(device) ?? memory.seriesCount(device)
    counts.set(device, count + 1)
    return count < metricsPerDeviceMax
  })
}

async function makeMetrics(
  memory: MetricMemory,
  transaction: Transaction,
  wanted: readonly Missing[],
  perOwner: number,
): Promise<MetricRow[]> {
  const makers = Map.groupBy(
    wanted.filter(({ name }) => memory.get(name) === undefined),
    ({ name }) => name,
  )
  if (makers.size === 0) return []
  const room = metricsMax - (await countMetrics(transaction))
  // Another process may have made some.
  const there = await readMetricsNamed(transaction, [...makers.keys()])
  for (const { name } of there) makers.delete(name)
  const made = (await withinOwners(transaction, [...makers.values()], perOwner)).slice(0, Math.max(0, room))
  if (made.length === 0) return there
  const fields = made.map(({ name, owner }): MetricFields => ({ ...metricFields({ name }), owner }))
  const by = made.map(one => one.by)
  return [...there, ...(await insertMetrics(transaction, fields, by))]
}

/**
 * Selects the maker of each metric: the first of its senders whose owner is below the limit. Metrics without one are
 * left out. Runs after all metrics were counted.
 */
async function withinOwners(
  transaction: Transaction,
  senders: readonly (readonly Missing[])[],
  perOwner: number,
): Promise<Missing[]> {
  const isBounded = senders.some(([first]) => first?.owner !== null)
  const counts = isBounded ? await countOwned(transaction) : new Map<number, number>()
  let ownedCount = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const hasRoom = ({ owner }: Missing) =>
    owner === null || ((counts.get(owner) ?? 0) < perOwner && ownedCount < metricsOfOwnersMax)
  return senders.flatMap(ofName => {
    const maker = ofName.find(hasRoom)
    if (maker === undefined) return []
    if (maker.owner !== null) {
      counts.set(maker.owner, (counts.get(maker.owner) ?? 0) + 1)
      ownedCount++
    }
    return [maker]
  })
}

/** Metrics of the catalogue count for no account, as their number is bounded. */
function accountOf(name: string, owner: number | null): number | null {
  return catalogueEntry(name) === undefined ? owner : null
}

function newNameOf(field: string): string | undefined {
  const name = metricNameOf(field)
  return name === undefined ? undefined : (catalogueEntry(name)?.name ?? name)
}

function isPassing(error: unknown): boolean {
  return error instanceof TooBusy || error instanceof ChangeInDoubt || isUnavailable(error)
}
