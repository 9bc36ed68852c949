/** Counters of the hub; service/event-metrics.ts exports them. */

export interface EventMeter {
  /** The number of connected clients. */
  clients(count: number): void
  /** The number of events sent to one client. */
  sent(events: number): void
  /** A client was disconnected because it did not read. */
  dropped(): void
}
