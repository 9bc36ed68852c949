/** The tags that name the device in line protocol, and the fields that name metrics. */

import { type Metric, metrics } from '../../store/tables.ts'

/** Plain data, so that it can be posted to a thread. */
export interface LineNames {
  /** Tags that name the device: the first one present counts. Only the first tag of this list overrides a known device. */
  readonly deviceTags: readonly string[]
  /** Fields whose names differ from their metrics. */
  readonly fields: readonly NamedField[]
  /** A line with an unknown field is rejected, or stored without it. */
  readonly unknownFields: 'reject' | 'ignore'
}

interface NamedField {
  /** Limits it to this measurement. By default it applies to all. */
  readonly measurement?: string
  readonly field: string
  readonly metric: Metric
}

/** Telegraf puts the tag `host` into every line. */
export const defaultDeviceTags = ['device', 'host']

export const defaultLineNames: LineNames = { deviceTags: defaultDeviceTags, fields: [], unknownFields: 'reject' }

/** Index of the metric by the field's name. */
export type FieldTable = ReadonlyMap<string, number>

/** Tables of the measurements with specific names, and of all others. The more specific name takes precedence. */
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
