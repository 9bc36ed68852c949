/** What lines of entities of Home Assistant are told of the registry of metrics: made again only when that has changed. */

import type { Metrics } from '../auth/metrics/metrics.ts'
import type { EntityMetric } from '../ingest/formats/line-protocol-entities.ts'

export function createEntityMetrics(metrics: Pick<Metrics, 'all' | 'version'>): () => readonly EntityMetric[] {
  let version = -1
  let known: readonly EntityMetric[] = []
  return () => {
    if (metrics.version() !== version) {
      version = metrics.version()
      known = metrics.all().map(({ name, unit, kind }) => ({ name, unit, kind }))
    }
    return known
  }
}
