/** Pages of metrics for lists. */

import { z } from 'zod'
import { Metric } from '../../store/metrics/metric.ts'
import { signOf } from '../../store/metrics/units.ts'
import { createTextSearch, rowsPerPage } from '../list-page.ts'

export const MetricDetails = Metric.extend({
  /** Shown unit: `°C` for `Cel`. */
  unit_sign: z.string().nullable(),
})
export type MetricDetails = z.infer<typeof MetricDetails>

export const MetricPage = z.object({
  metrics: z.array(MetricDetails),
  total: z.int().nonnegative(),
  /** Argument for `?after=`, or null on the last page. */
  next: z.int().nonnegative().nullable(),
})
export type MetricPage = z.infer<typeof MetricPage>

export interface MetricListQuery {
  /** Searches name and title without regard to case. */
  search: string
  /** `next` of the previous page. */
  after?: number | undefined
}

/** Exclusive bound of ids. */
const idsMax = 2 ** 31

/** `all` is sorted by key. A page begins behind the key of the last row, even if that was removed. */
export function metricPage(all: readonly Metric[], { search, after = -1 }: MetricListQuery): MetricPage {
  const isFound = createTextSearch(search)
  const found = search === '' ? all : all.filter(({ name, title }) => isFound(name) || isFound(title))
  const first = found.findIndex(metric => keyOf(metric) > after)
  const rows = first === -1 ? [] : found.slice(first, first + rowsPerPage)
  const last = rows.at(-1)
  const next = last !== undefined && last !== found.at(-1) ? keyOf(last) : null
  return { metrics: rows.map(metricDetails), total: found.length, next }
}

function keyOf({ position, id }: Metric): number {
  return position * idsMax + id
}

export function metricDetails({ id: _, ...fields }: Metric): MetricDetails {
  return { ...fields, unit_sign: fields.unit === null ? null : signOf(fields.unit) }
}
