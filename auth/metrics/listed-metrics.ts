/** The metrics that a device is to list, by the names that the registry has, or else the catalogue. */

import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { metricsMax } from '../../store/metrics/metric-counts.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { metricFields } from './metric-fields.ts'
import { countMetrics, insertMetrics, lockMetrics, lockMetricsNamed, type MetricRow } from './metric-rows.ts'

type Listed =
  /** What of the catalogue was registered for it. */
  { ok: true; added: MetricRow[] } | { ok: false; code: 'METRICS_UNKNOWN'; names: string[] } | Full
type Full = { ok: false; code: 'REGISTRY_FULL' }

/** Registers what only the catalogue knows; none of all of these is removed until the end of the transaction. */
export async function registerListed(
  transaction: Transaction,
  names: ReadonlySet<string>,
  by: string,
): Promise<Listed> {
  if (names.size === 0) return { ok: true, added: [] }
  await lockMetrics(transaction)
  const missing = await lockMetricsNamed(transaction, [...names])
  const unknown = missing.filter(name => catalogueEntry(name)?.name !== name)
  if (unknown.length > 0) return { ok: false, code: 'METRICS_UNKNOWN', names: unknown }
  if (missing.length === 0) return { ok: true, added: [] }
  if ((await countMetrics(transaction)) + missing.length > metricsMax) return { ok: false, code: 'REGISTRY_FULL' }
  const fields = missing.map(name => metricFields({ name }))
  const added = await insertMetrics(
    transaction,
    fields,
    fields.map(() => by),
  )
  // Another process may have made some, and may remove them.
  const gone = added.length === missing.length ? [] : await lockMetricsNamed(transaction, missing)
  return gone.length === 0 ? { ok: true, added } : { ok: false, code: 'METRICS_UNKNOWN', names: gone }
}
