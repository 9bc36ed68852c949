/** What the tags and fields of line protocol mean here: which of them name the device and the metrics. */

import { type Metric, metrics } from '../../store/tables.ts'

/** Plain data, so that it can be handed to a thread. */
export interface LineNames {
  /** Tags that name the device; of several that a line has, the first of these. Only the first overrides a known device. */
  readonly deviceTags: readonly string[]
  /** Fields that are called otherwise than their metric. */
  readonly fields: readonly NamedField[]
  /** What becomes of a line with a field that is no metric: refused, or taken without that field. */
  readonly unknownFields: 'reject' | 'ignore'
}

interface NamedField {
  /** Only in this measurement; without it, in all. */
  readonly measurement?: string
  readonly field: string
  readonly metric: Metric
}

/** Telegraf puts the tag `host` into every line. */
export const defaultDeviceTags = ['device', 'host']

export const defaultLineNames: LineNames = { deviceTags: defaultDeviceTags, fields: [], unknownFields: 'reject' }

/** The index of the metric by the name of the field. */
export type FieldTable = ReadonlyMap<string, number>

/** The table of each measurement that has one of its own, and of all others. What is more specific counts more. */
export function createFieldTables({ fields }: LineNames): (measurement: string) => FieldTable {
  const general = metrics.map(metric => ({ field: metric, metric }))
  const inAll = tableOf([...general, ...fields.filter(({ measurement }) => measurement === undefined)])
  const named = new Set(fields.map(({ measurement }) => measurement))
  const tables = new Map<string, FieldTable>()
  for (const measurement of named) {
    if (measurement === undefined) continue
    const own = tableOf(fields.filter(field => field.measurement === measurement))
    tables.set(measurement, new Map([...inAll, ...own]))
  }
  return measurement => tables.get(measurement) ?? inAll
}

function tableOf(fields: readonly Pick<NamedField, 'field' | 'metric'>[]): FieldTable {
  return new Map(fields.map(({ field, metric }) => [field, metrics.indexOf(metric)]))
}
