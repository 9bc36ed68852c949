/**
 * Metrics and series that are made when a device first sends them. Calls that come while PostgreSQL works on others are done
 * together in the next transaction, so that a metric and a series are made once and a fleet's first readings cost a few
 * transactions.
 */

import { catalogueEntry } from '../../metrics/catalogue.ts'
import type { Metric } from '../../metrics/metric.ts'
import { metricsMax, metricsPerDeviceMax } from '../../metrics/metric-counts.ts'
import { metricNameOf } from '../../metrics/metric-name.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { ChangeInDoubt } from '../record-cache.ts'
import { TooBusy } from '../too-busy.ts'
import { metricFields } from './metric-changes.ts'
import type { MetricCommits } from './metric-commits.ts'
import type { MetricMemory } from './metric-memory.ts'
import { countMetrics, insertMetrics, insertSeries, readMetricsNamed, type SeriesRow } from './metric-rows.ts'

/** A field that a device has sent. */
export interface Sighting {
  /** The registry's number of the device. */
  device: number
  field: string
}

/**
 * Why a field of a device is stored as no metric: none can have its name; there is none of it, and only administrators make
 * them, or there are as many as there may be; or the device has as many as it may have.
 */
type SightingRefusal = 'NAME_INVALID' | 'UNDECLARED' | 'TOO_MANY_METRICS' | 'TOO_MANY_OF_DEVICE'

export interface FirstSight {
  /**
   * Makes what is missing of these, as far as there is room; afterwards `series` has its number, or `refusalOf` says why there
   * is none. `later` when nothing can be made at present. `by` is who sent them, for the audit.
   */
  ensure(sightings: readonly Sighting[], by: string): Promise<'done' | 'later'>
  /** Undefined for what can be made, or is there already. From memory. */
  refusalOf(sighting: Sighting): SightingRefusal | undefined
}

export interface FirstSightOptions {
  memory: MetricMemory
  commits: Pick<MetricCommits, 'exclusively' | 'transact'>
  /** Whether a field without a metric makes one. */
  isOpen: boolean
  failed: (error: unknown) => void
}

interface Missing {
  device: number
  name: string
  by: string
}

interface Batch {
  readonly missing: Map<string, Missing>
  readonly done: Promise<'done' | 'later'>
}

/** In one transaction. */
const missingMax = 10_000

export function createFirstSight(options: FirstSightOptions): FirstSight {
  const { memory, commits, isOpen, failed } = options
  /** Of the transaction that has not begun. */
  let next: Batch | undefined

  function isThere({ device, field }: Sighting): boolean {
    const metric = memory.find(field)
    return metric !== undefined && (metric.built_in || memory.seriesOf(device, metric.id) !== undefined)
  }

  function metricRefusal(field: string): SightingRefusal | undefined {
    if (memory.find(field) !== undefined) return undefined
    if (newNameOf(field) === undefined) return 'NAME_INVALID'
    if (!isOpen) return 'UNDECLARED'
    return memory.size() < metricsMax ? undefined : 'TOO_MANY_METRICS'
  }

  function refusalOf(sighting: Sighting): SightingRefusal | undefined {
    if (isThere(sighting)) return undefined
    const hasRoom = memory.seriesCount(sighting.device) < metricsPerDeviceMax
    return metricRefusal(sighting.field) ?? (hasRoom ? undefined : 'TOO_MANY_OF_DEVICE')
  }

  function missingOf(sightings: readonly Sighting[], by: string): Missing[] {
    return sightings.flatMap(sighting => {
      const { device, field } = sighting
      const name = memory.find(field)?.name ?? newNameOf(field)
      return name === undefined || isThere(sighting) || refusalOf(sighting) !== undefined ? [] : [{ device, name, by }]
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

type MakerOptions = Pick<FirstSightOptions, 'memory' | 'commits'>

/** While nothing else changes: in PostgreSQL, then in memory. */
async function makeMissing({ memory, commits }: MakerOptions, missing: readonly Missing[]): Promise<void> {
  const wanted = withinDevices(memory, missing)
  if (wanted.length === 0) return
  const made = await commits.transact(async transaction => {
    const metrics = await makeMetrics(memory, transaction, wanted)
    const byName = new Map(metrics.map(metric => [metric.name, metric]))
    const pairs = wanted.flatMap(({ device, name }) => {
      const metric = memory.get(name) ?? byName.get(name)
      return metric === undefined || metric.built_in ? [] : [{ device, metric: metric.id }]
    })
    const series: SeriesRow[] = pairs.length === 0 ? [] : await insertSeries(transaction, pairs, metricsPerDeviceMax)
    return { metrics, series }
  })
  for (const metric of made.metrics) memory.apply(metric)
  for (const row of made.series) memory.applySeries(row)
}

/** Without those for which their device has no room, so that no metric is made for nothing. */
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
): Promise<Metric[]> {
  const makers = new Map(wanted.filter(({ name }) => memory.get(name) === undefined).map(({ name, by }) => [name, by]))
  if (makers.size === 0) return []
  const room = metricsMax - (await countMetrics(transaction))
  // Another process may have made some.
  const there = await readMetricsNamed(transaction, [...makers.keys()])
  for (const { name } of there) makers.delete(name)
  const names = [...makers.keys()].slice(0, Math.max(0, room))
  if (names.length === 0) return there
  const fields = names.map(name => metricFields({ name }))
  const by = names.map(name => makers.get(name) ?? '')
  return [...there, ...(await insertMetrics(transaction, fields, by))]
}

/** That of the catalogue, if it knows the field. */
function newNameOf(field: string): string | undefined {
  const name = metricNameOf(field)
  return name === undefined ? undefined : (catalogueEntry(name)?.name ?? name)
}

function isPassing(error: unknown): boolean {
  return error instanceof TooBusy || error instanceof ChangeInDoubt || isUnavailable(error)
}
