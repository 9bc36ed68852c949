/** The findings that make sense for a metric, by its kind. */

interface Allowed {
  /** Values are missing although the device reports. Metrics sent only on a change or an event may be silent. */
  readonly silentMetric: boolean
  /** The value never changes: a door, a meter and rain may stand still for days. */
  readonly stuck: boolean
}

export const findingsOfKind: Readonly<Record<'gauge' | 'counter' | 'direction' | 'state' | 'rate', Allowed>> = {
  gauge: { silentMetric: true, stuck: true },
  direction: { silentMetric: true, stuck: true },
  counter: { silentMetric: true, stuck: false },
  rate: { silentMetric: false, stuck: false },
  state: { silentMetric: false, stuck: false },
}
