/** Which findings make sense for a metric, by its kind. */

interface Allowed {
  /** That no value comes although the device reports. What is sent on change or on an event alone may be silent. */
  readonly silentMetric: boolean
  /** That the value never changes: a door, a meter and rain may stand still for days. */
  readonly stuck: boolean
}

export const findingsOfKind: Readonly<Record<'gauge' | 'counter' | 'direction' | 'state' | 'rate', Allowed>> = {
  gauge: { silentMetric: true, stuck: true },
  direction: { silentMetric: true, stuck: true },
  counter: { silentMetric: true, stuck: false },
  rate: { silentMetric: false, stuck: false },
  state: { silentMetric: false, stuck: false },
}
