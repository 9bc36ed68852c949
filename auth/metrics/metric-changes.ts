/** Changes the registry for administrators. */

import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { type Metric, type MetricChange, metricsMax, type NewMetric } from '../../store/metrics/metric.ts'
import { writeAudit } from '../audit.ts'
import type { ChangeFeed } from '../nodes/change-feed.ts'
import type { MetricCommits } from './metric-commits.ts'
import type { MetricMemory } from './metric-memory.ts'
import {
  countMetrics,
  deleteMetric,
  idsOf,
  insertMetrics,
  isMetricUsed,
  lockMetric,
  metricFields,
  readMetricsNamed,
  updateMetric,
} from './metric-rows.ts'

export type MetricRefusal =
  /** `aliasOf`: the catalogue has it as another name of this metric. */
  | { ok: false; code: 'NAME_TAKEN'; aliasOf?: string }
  | { ok: false; code: 'METRIC_BUILT_IN'; fields: string[] }
  /** `RANGE_EMPTY`: combined with the present values, `min` is not below `max`. */
  | { ok: false; code: 'METRIC_UNKNOWN' | 'METRIC_IN_USE' | 'REGISTRY_FULL' | 'RANGE_EMPTY' }
type MetricChanged<Value> = { ok: true; value: Value } | MetricRefusal

/** All methods reject like PostgreSQL while it is unavailable. `by` is the principal for the audit. */
export interface MetricChanges {
  /** Missing fields are the catalogue's. Its range applies only with its own unit. */
  add(metric: NewMetric, by: string): Promise<MetricChanged<Metric>>
  /**
   * Kind and unit may change at any time, for instance for a metric that the first reading has made. Stored values are
   * not converted and have the new unit from then on. The audit has the former unit and kind. Unit, kind and range of
   * the five built-in metrics stay, since the interface of readings names them.
   */
  change(name: string, change: MetricChange, by: string): Promise<MetricChanged<Metric>>
  /** Refused while a device has or lists it. Its number is not reused. */
  remove(name: string, by: string): Promise<MetricChanged<undefined>>
}

export interface MetricChangesOptions {
  memory: MetricMemory
  feed: ChangeFeed
  commits: Pick<MetricCommits, 'exclusively' | 'transact'>
}

const unknown = { ok: false, code: 'METRIC_UNKNOWN' } as const
const rangeEmpty = { ok: false, code: 'RANGE_EMPTY' } as const

export function createMetricChanges({ memory, feed, commits }: MetricChangesOptions): MetricChanges {
  const { exclusively, transact } = commits

  async function addNow(metric: NewMetric, by: string): Promise<MetricChanged<Metric>> {
    const { name } = metric
    if (memory.get(name) !== undefined) return { ok: false, code: 'NAME_TAKEN' }
    const entry = catalogueEntry(name)
    if (entry !== undefined && entry.name !== name) return { ok: false, code: 'NAME_TAKEN', aliasOf: entry.name }
    const fields = metricFields(metric)
    if (!hasRange(fields)) return rangeEmpty
    const done = await transact(async transaction => {
      if ((await countMetrics(transaction)) >= metricsMax) return undefined
      const added = await insertMetrics(transaction, [fields], [by])
      feed.note(transaction, 'metric', idsOf(added))
      // Another process has made it.
      return { added, taken: added.length > 0 ? [] : await readMetricsNamed(transaction, [name]) }
    })
    if (done === undefined) return { ok: false, code: 'REGISTRY_FULL' }
    for (const row of [...done.added, ...done.taken]) memory.apply(row)
    const [added] = done.added
    if (added === undefined) return { ok: false, code: 'NAME_TAKEN' }
    return { ok: true, value: memory.byId(added.id) ?? added }
  }

  async function changeNow(name: string, wanted: MetricChange, by: string): Promise<MetricChanged<Metric>> {
    const metric = memory.get(name)
    if (metric === undefined) return unknown
    const fixed = metric.built_in ? changedIn(metric, wanted, fixedFields) : []
    if (fixed.length > 0) return { ok: false, code: 'METRIC_BUILT_IN', fields: fixed }
    const change = onlyChanges(metric, wanted)
    if (Object.keys(change).length === 0) return { ok: true, value: metric }
    if (!hasRange({ ...metric, ...change })) return rangeEmpty
    const row = await transact(async transaction => {
      feed.note(transaction, 'metric', [metric.id])
      const changed = await updateMetric(transaction, metric.id, change)
      if (changed === undefined) return undefined
      const { unit, kind } = metric
      const details = {
        ...change,
        ...(change.unit === undefined && change.kind === undefined ? {} : { was: { unit, kind } }),
      }
      await writeAudit(transaction, { actor: by, action: 'metric.change', subject: subjectOf(name), details })
      return changed
    })
    if (row === undefined) {
      memory.remove(metric)
      return unknown
    }
    memory.apply(row)
    return { ok: true, value: memory.byId(row.id) ?? row }
  }

  async function removeNow(name: string, by: string): Promise<MetricChanged<undefined>> {
    const metric = memory.get(name)
    if (metric === undefined) return unknown
    if (metric.built_in) return { ok: false, code: 'METRIC_BUILT_IN', fields: [] }
    const refusal = await transact(async transaction => {
      if (!(await lockMetric(transaction, metric.id))) return unknown
      if (await isMetricUsed(transaction, metric)) return { ok: false, code: 'METRIC_IN_USE' } as const
      feed.note(transaction, 'metric', [metric.id])
      await deleteMetric(transaction, metric.id)
      await writeAudit(transaction, { actor: by, action: 'metric.remove', subject: subjectOf(name) })
      return undefined
    })
    if (refusal === undefined || refusal === unknown) memory.remove(metric)
    return refusal ?? { ok: true, value: undefined }
  }

  /** Returns when every node has the change. */
  async function settled<Value>(work: () => Promise<Value>): Promise<Value> {
    const value = await exclusively(work)
    await feed.settle()
    return value
  }

  return {
    add: (metric, by) => settled(() => addNow(metric, by)),
    change: (name, change, by) => settled(() => changeNow(name, change, by)),
    remove: (name, by) => settled(() => removeNow(name, by)),
  }
}

const fixedFields = ['unit', 'kind', 'min', 'max'] as const

function changedIn(metric: Metric, change: MetricChange, fields: readonly (keyof MetricChange)[]): string[] {
  return fields.filter(field => change[field] !== undefined && change[field] !== metric[field])
}

function onlyChanges(metric: Metric, change: MetricChange): MetricChange {
  return Object.fromEntries(
    Object.entries(change).filter(([field, value]) => value !== undefined && value !== metric[field as keyof Metric]),
  )
}

function hasRange({ min, max }: Pick<MetricChange, 'min' | 'max'>): boolean {
  return (min ?? -Infinity) < (max ?? Infinity)
}

function subjectOf(name: string): string {
  return `metric ${name}`
}
