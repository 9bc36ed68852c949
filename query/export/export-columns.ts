/** The columns of an export behind time and device: values of metrics, or figures of each metric by bucket. */

import type { MetricKind } from '../../store/metrics/metric.ts'
import { metrics as builtIn, hourlyColumns } from '../../store/tables.ts'

export interface ExportMetric {
  readonly name: string
  /** Determines the figures of a bucket. */
  readonly kind: MetricKind
}

export interface ExportColumn {
  readonly name: string
  /** Index of its metric in the export. */
  readonly metric: number
  /** Undefined for the values themselves. */
  readonly figure: Figure | undefined
  readonly isCount: boolean
  /** QuestDB's expression over the table of readings, with its name; undefined where the metric has no column there. */
  readonly sql: string | undefined
}

/** `increase` counts from the value before; after a reset it counts from 0. */
type Figure = 'count' | 'mean' | 'sum' | 'increase' | 'last' | 'min' | 'max'

/** Only figures that make sense for the kind: totals have no mean, directions no minimum. */
const figuresOf: Readonly<Record<MetricKind, readonly Figure[]>> = {
  gauge: ['count', 'mean', 'min', 'max'],
  rate: ['count', 'sum', 'min', 'max'],
  counter: ['count', 'increase', 'last'],
  direction: ['count', 'mean'],
  state: ['count', 'last', 'min', 'max'],
}

/** Metrics with columns in the table of readings, in their order. */
export const builtInMetrics: readonly ExportMetric[] = builtIn.map(name => ({ name, kind: 'gauge' }))
const builtInNames: ReadonlySet<string> = new Set(builtIn)

export function isBuiltIn({ name }: Pick<ExportMetric, 'name'>): boolean {
  return builtInNames.has(name)
}

export function columnsOf(
  stepUs: number | undefined,
  metrics: readonly ExportMetric[] = builtInMetrics,
): readonly ExportColumn[] {
  if (stepUs !== undefined) return metrics.flatMap(bucketColumnsOf)
  return metrics.map(({ name }, metric) => {
    return { name, metric, figure: undefined, isCount: false, sql: builtInNames.has(name) ? name : undefined }
  })
}

function bucketColumnsOf({ name: ofMetric, kind }: ExportMetric, metric: number): ExportColumn[] {
  return figuresOf[kind].map(figure => {
    const name = `${ofMetric}_${figure}`
    return { name, metric, figure, isCount: figure === 'count', sql: hourlyColumns.find(one => one.name === name)?.sql }
  })
}
