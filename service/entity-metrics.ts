/** Selects the registry's metrics for threads that read bulk bodies, again only after a change. */

import type { Metrics } from '../auth/metrics/metrics.ts'
import type { EntityMetric } from '../ingest/formats/line-protocol-entities.ts'
import type { KnownMetric } from '../ingest/remote/sample-lines.ts'
import { catalogueEntry } from '../store/metrics/catalogue.ts'
import type { StatedUnits } from '../store/metrics/stated-units.ts'

/** `units` are for entities without a unit. */
export function createEntityMetrics(
  metrics: Pick<Metrics, 'all' | 'version'>,
  units: StatedUnits = new Map(),
): () => readonly EntityMetric[] {
  const withUnit = ({ name, unit, kind }: EntityMetric) => ({ name, unit, kind, assumedUnit: units.get(name) })
  let version = -1
  let known: readonly EntityMetric[] = []
  return () => {
    if (metrics.version() !== version) {
      version = metrics.version()
      const registered = metrics.all()
      const names = new Set(registered.map(({ name }) => name))
      const others = [...units.keys()].flatMap(name => (names.has(name) ? [] : (catalogueEntry(name) ?? [])))
      known = [...registered, ...others].map(withUnit)
    }
    return known
  }
}

/** Samples of remote writers are matched with these metrics. */
export function createKnownMetrics(metrics: Pick<Metrics, 'all' | 'version'>): () => readonly KnownMetric[] {
  let version = -1
  let known: readonly KnownMetric[] = []
  return () => {
    if (metrics.version() !== version) {
      version = metrics.version()
      known = metrics.all().map(({ id, name, unit }) => ({ id, name, unit }))
    }
    return known
  }
}
