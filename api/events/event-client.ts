/** A client of the events: what it has asked for, and how far it is. */

/** Where events go. `write` is false while the client takes no more; `drained` is called when it does again. */
export interface EventSink {
  write(bytes: Buffer): boolean
  onDrained(drained: () => void): void
  /** At once. */
  destroy(): void
}

export interface Subscription {
  /** By number; undefined for all. */
  devices: ReadonlySet<number> | undefined
  statesOnly: boolean
}

export class EventClient {
  readonly sink: EventSink
  readonly subscription: Subscription
  /** The next reading and the next change of a state that it has not been told. */
  next: number
  nextState: number
  /** Undefined while it takes what it gets. */
  blockedSinceMs: number | undefined
  /** It took nothing for a while, so it need not get each reading. */
  isSlow = false

  constructor(sink: EventSink, subscription: Subscription, next: number, nextState: number) {
    this.sink = sink
    this.subscription = subscription
    this.next = next
    this.nextState = nextState
  }

  get isForAll(): boolean {
    const { devices, statesOnly } = this.subscription
    return devices === undefined && !statesOnly
  }

  wantsReading(device: number): boolean {
    return !this.subscription.statesOnly && this.wantsState(device)
  }

  wantsState(device: number): boolean {
    return this.subscription.devices?.has(device) ?? true
  }
}

/** The clients that have asked for readings of a device, by its number. */
export function watchersOf(clients: readonly EventClient[]): ReadonlyMap<number, EventClient[]> {
  const watchers = new Map<number, EventClient[]>()
  for (const client of clients) {
    const { devices, statesOnly } = client.subscription
    for (const device of statesOnly ? [] : (devices ?? [])) {
      const others = watchers.get(device)
      if (others === undefined) watchers.set(device, [client])
      else others.push(client)
    }
  }
  return watchers
}
