/** What the hub says of its clients; service/event-metrics.ts counts it. */

export interface EventMeter {
  /** The number of connected clients. */
  clients(count: number): void
  /** The number of events sent to one client. */
  sent(events: number): void
  /** A client was disconnected because it took nothing. */
  dropped(): void
}
