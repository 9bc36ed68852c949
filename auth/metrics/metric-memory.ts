/** Holds all metrics and the numbers of their series in memory for the write path. */

import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import type { Metric } from '../../store/metrics/metric.ts'
import { metricNameOf } from '../../store/metrics/metric-name.ts'
import type { MetricRow, SeriesRow } from './metric-rows.ts'

export type BuiltInRanges = { readonly [name: string]: { readonly min: number; readonly max: number } }

export class MetricMemory {
  readonly #byName = new Map<string, Metric>()
  readonly #byId = new Map<number, Metric>()
  /** Metric and number of at most 64 series by device, interleaved. Maps would take six times the memory. */
  readonly #series = new Map<number, number[]>()
  readonly #owned = new OwnedMetrics()
  readonly #versions = new Map<number, number>()
  /** Removed ids and series numbers. They are not reused, so an older row does not restore one. */
  readonly #removed = new Set<number>()
  readonly #removedSeries = new Set<number>()
  readonly #ranges: BuiltInRanges
  #sorted: readonly Metric[] | undefined
  #version = 0
  #seriesMax = 0

  constructor(ranges: BuiltInRanges) {
    this.#ranges = ranges
  }

  get(name: string): Metric | undefined {
    return this.#byName.get(name)
  }

  byId(id: number): Metric | undefined {
    return this.#byId.get(id)
  }

  /** Finds by name, by a name that differs in spelling, or by an alias of the catalogue. */
  find(field: string): Metric | undefined {
    const known = this.#byName.get(field)
    if (known !== undefined) return known
    const name = metricNameOf(field)
    if (name === undefined) return undefined
    return this.#byName.get(name) ?? this.#byName.get(catalogueEntry(name)?.name ?? name)
  }

  size(): number {
    return this.#byId.size
  }

  /** Number of metrics that readings of the account's devices have made. */
  ownedBy(owner: number): number {
    return this.#owned.of(owner)
  }

  /** Number of such metrics over all accounts. */
  ownedCount(): number {
    return this.#owned.count
  }

  /** Ordered by position, then by age. The same array until something changes. */
  all(): readonly Metric[] {
    this.#sorted ??= [...this.#byId.values()].sort((a, b) => a.position - b.position || a.id - b.id)
    return this.#sorted
  }

  version(): number {
    return this.#version
  }

  /** Older rows of a metric are ignored. */
  apply({ owner, version, ...row }: MetricRow): void {
    if (this.#removed.has(row.id) || version < (this.#versions.get(row.id) ?? 0)) return
    this.#versions.set(row.id, version)
    const range = row.built_in && Object.hasOwn(this.#ranges, row.name) ? this.#ranges[row.name] : undefined
    const metric = range === undefined ? row : { ...row, min: range.min, max: range.max }
    this.#byName.set(metric.name, metric)
    this.#byId.set(metric.id, metric)
    this.#owned.set(metric.id, owner)
    this.#changed()
  }

  remove({ id, name }: Pick<Metric, 'id' | 'name'>): void {
    this.#removed.add(id)
    this.#versions.delete(id)
    this.#byId.delete(id)
    // Another metric may have the name by now.
    if (this.#byName.get(name)?.id === id) this.#byName.delete(name)
    this.#owned.set(id, null)
    this.#changed()
  }

  /** Removes a metric that PostgreSQL no longer has, even if memory lacks it. */
  removeById(id: number): void {
    const metric = this.#byId.get(id)
    if (metric === undefined) this.#removed.add(id)
    else this.remove(metric)
  }

  /** Removes all other metrics. */
  replace(metrics: readonly MetricRow[]): void {
    this.#versions.clear()
    this.#byId.clear()
    this.#byName.clear()
    this.#owned.clear()
    for (const metric of metrics) this.apply(metric)
  }

  applySeries({ device, metric, number }: SeriesRow): void {
    this.#seriesMax = Math.max(this.#seriesMax, number)
    if (this.#removedSeries.has(number)) return
    if (this.seriesOf(device, metric) !== undefined) return
    const pairs = this.#series.get(device)
    if (pairs === undefined) this.#series.set(device, [metric, number])
    else pairs.push(metric, number)
  }

  removeSeries({ device, number }: Pick<SeriesRow, 'device' | 'number'>): void {
    this.#removedSeries.add(number)
    const pairs = this.#series.get(device)
    const at = pairs?.findIndex((one, index) => index % 2 === 1 && one === number) ?? -1
    if (pairs === undefined || at === -1) return
    pairs.splice(at - 1, 2)
    if (pairs.length === 0) this.#series.delete(device)
  }

  /** Notes series that other nodes removed; `replaceSeries` of their devices follows. */
  noteRemovedSeries(numbers: readonly number[]): void {
    for (const number of numbers) this.#removedSeries.add(number)
  }

  /** Replaces series of some devices by PostgreSQL's rows. Series in memory that were not removed are newer. */
  replaceSeries(devices: readonly number[], rows: readonly SeriesRow[]): void {
    for (const device of devices) {
      const numbers = (this.#series.get(device) ?? []).filter((_, at) => at % 2 === 1)
      for (const number of numbers) if (this.#removedSeries.has(number)) this.removeSeries({ device, number })
    }
    for (const row of rows) this.applySeries(row)
  }

  seriesOf(device: number, metric: number): number | undefined {
    const pairs = this.#series.get(device)
    if (pairs === undefined) return undefined
    for (let at = 0; at < pairs.length; at += 2) if (pairs[at] === metric) return pairs[at + 1]
    return undefined
  }

  metricOf(device: number, series: number): number | undefined {
    const pairs = this.#series.get(device)
    if (pairs === undefined) return undefined
    for (let at = 1; at < pairs.length; at += 2) if (pairs[at] === series) return pairs[at - 1]
    return undefined
  }

  /** Metric ids of a device's series, oldest first. */
  metricsOf(device: number): number[] {
    return (this.#series.get(device) ?? []).filter((_, at) => at % 2 === 0)
  }

  /** Device numbers and series numbers, alternating. */
  seriesPairs(): Uint32Array {
    let length = 0
    for (const pairs of this.#series.values()) length += pairs.length
    const found = new Uint32Array(length)
    let at = 0
    for (const [device, pairs] of this.#series) {
      for (let index = 1; index < pairs.length; index += 2) {
        found[at++] = device
        found[at++] = pairs[index] as number
      }
    }
    return found
  }

  seriesCount(device: number): number {
    return (this.#series.get(device)?.length ?? 0) / 2
  }

  /** The highest series number in memory. */
  seriesMax(): number {
    return this.#seriesMax
  }

  #changed(): void {
    this.#sorted = undefined
    this.#version += 1
  }
}

/** Counts metrics by the account whose devices have made them. */
class OwnedMetrics {
  readonly #owners = new Map<number, number>()
  readonly #counts = new Map<number, number>()

  get count(): number {
    return this.#owners.size
  }

  of(owner: number): number {
    return this.#counts.get(owner) ?? 0
  }

  set(id: number, owner: number | null): void {
    const before = this.#owners.get(id)
    if (before !== undefined) this.#counts.set(before, this.of(before) - 1)
    this.#owners.delete(id)
    if (owner === null) return
    this.#owners.set(id, owner)
    this.#counts.set(owner, this.of(owner) + 1)
  }

  clear(): void {
    this.#owners.clear()
    this.#counts.clear()
  }
}
