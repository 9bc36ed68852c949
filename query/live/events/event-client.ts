/** A client of the events: its subscription, its progress and its meter. */

import type { OwnedAlert, StateChange } from './state-log.ts'

/**
 * Destination of events. `write` returns false while the client's buffer is full; `drained` is called when it accepts
 * more.
 */
export interface EventSink {
  write(bytes: Buffer): boolean
  onDrained(drained: () => void): void
  /** Disconnects without flushing. */
  destroy(): void
}

export interface Subscription {
  /** Device numbers; undefined for all. */
  devices: ReadonlySet<number> | undefined
  /** The client gets devices that this account owns at the moment; undefined for all owners. */
  owner: number | undefined
  /** The client gets devices whose number matches at the moment; undefined for all. */
  isTagged?: ((device: number) => boolean) | undefined
  statesOnly: boolean
  /** Checks whether the client may receive an alert; undefined for no alerts. */
  alerts?: ((alert: OwnedAlert) => boolean) | undefined
}

/** The account that owns a device at the moment, by its number. */
export type OwnerOf = (device: number) => number | undefined

export class EventClient {
  readonly sink: EventSink
  readonly subscription: Subscription
  readonly #ownerOf: OwnerOf
  /** Numbers of the next reading and the next state change to send. */
  next: number
  nextState: number
  /** The position at which it resumes, which has not been stored yet; undefined for a client with a place. */
  awaited: { readonly position: number; readonly sinceMs: number } | undefined
  /** Undefined while the client accepts data. */
  blockedSinceMs: number | undefined
  /** The client did not read for a while, so single readings may be skipped. */
  isSlow = false

  constructor(sink: EventSink, subscription: Subscription, ownerOf: OwnerOf, next: number, nextState: number) {
    this.sink = sink
    this.subscription = subscription
    this.#ownerOf = ownerOf
    this.next = next
    this.nextState = nextState
  }

  get isReady(): boolean {
    return this.blockedSinceMs === undefined && this.awaited === undefined
  }

  /** The client is up to date up to this number, without gaps. */
  isAt(number: number): boolean {
    return this.next === number
  }

  get isForAll(): boolean {
    const { devices, owner, isTagged, statesOnly } = this.subscription
    return devices === undefined && owner === undefined && isTagged === undefined && !statesOnly
  }

  wantsReading(device: number): boolean {
    return !this.subscription.statesOnly && this.wantsState(device)
  }

  wantsChange({ device, alert }: StateChange): boolean {
    return alert === undefined ? this.wantsState(device) : this.#wantsAlert(device, alert)
  }

  /** Ownership of the device is irrelevant: managers of a rule get its alerts. */
  #wantsAlert(device: number, alert: OwnedAlert): boolean {
    const { devices, alerts } = this.subscription
    return alerts?.(alert) === true && (devices?.has(device) ?? true)
  }

  wantsState(device: number): boolean {
    const { devices, owner, isTagged } = this.subscription
    const isOwned = owner === undefined || this.#ownerOf(device) === owner
    return (devices?.has(device) ?? true) && isOwned && (isTagged?.(device) ?? true)
  }
}

/** The clients subscribed to a device, by its number, without clients that receive the readings of all. */
export type WatchersOf = (device: number) => readonly EventClient[]

const noClients: readonly EventClient[] = []

export function createWatchers(clients: readonly EventClient[], ownerOf: OwnerOf): WatchersOf {
  const byDevice = new Map<number, EventClient[]>()
  const byOwner = new Map<number, EventClient[]>()
  const tagged: EventClient[] = []
  for (const client of clients) {
    const { devices, owner, isTagged, statesOnly } = client.subscription
    if (statesOnly) continue
    for (const device of devices ?? []) add(byDevice, device, client)
    if (devices !== undefined) continue
    if (isTagged !== undefined) tagged.push(client)
    else if (owner !== undefined) add(byOwner, owner, client)
  }
  if (clients.every(({ subscription: { owner, isTagged } }) => owner === undefined && isTagged === undefined)) {
    return device => byDevice.get(device) ?? noClients
  }
  return device => {
    const owning = byOwner.get(ownerOf(device) ?? Number.NaN) ?? noClients
    const asked = [...(byDevice.get(device) ?? noClients), ...tagged]
    return [...asked.filter(client => client.wantsReading(device)), ...owning]
  }
}

function add(lists: Map<number, EventClient[]>, key: number, client: EventClient): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [client])
  else list.push(client)
}

/** Counters of the hub; service/event-metrics.ts exports them. */

export interface EventMeter {
  clients(count: number): void
  sent(events: number): void
  /** A client was disconnected because it did not read. */
  dropped(): void
}
