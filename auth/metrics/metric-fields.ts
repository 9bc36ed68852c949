/** Fills a new metric's missing fields from the catalogue. */

import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import type { NewMetric } from '../../store/metrics/metric.ts'
import { titleOfName } from '../../store/metrics/metric-name.ts'
import type { MetricFields } from './metric-rows.ts'

const decimalsUsual = 2

export function metricFields({ name, ...given }: NewMetric): MetricFields {
  const entry = catalogueEntry(name)
  const usual = {
    title: entry?.title ?? titleOfName(name),
    unit: entry?.unit ?? null,
    kind: entry?.kind ?? ('gauge' as const),
    decimals: entry?.decimals ?? decimalsUsual,
    quality: null,
    color: null,
    position: null,
    owner: null,
  }
  const isUnitOfEntry = given.unit === undefined || given.unit === usual.unit
  const range = isUnitOfEntry ? { min: entry?.min ?? null, max: entry?.max ?? null } : { min: null, max: null }
  return { name, ...usual, ...range, ...withoutUndefined(given) }
}

function withoutUndefined<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
