/** Counters of the hub; service/event-metrics.ts exports them. */

export interface EventMeter {
  clients(count: number): void
  sent(events: number): void
  /** A client was disconnected because it did not read. */
  dropped(): void
}
