/** A client of the events: what it has asked for, and how far it is. */

import type { OwnedAlert, StateChange } from './state-log.ts'

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
  /** Only those that this account owns at the moment; undefined: whoever owns them. */
  owner: number | undefined
  /** Only those of which this holds at the moment, by number; undefined: any. */
  isTagged?: ((device: number) => boolean) | undefined
  statesOnly: boolean
  /** Whether it may be told of an alert; undefined: of none. */
  alerts?: ((alert: OwnedAlert) => boolean) | undefined
}

/** The account that owns a device at the moment, by its number. */
export type OwnerOf = (device: number) => number | undefined

export class EventClient {
  readonly sink: EventSink
  readonly subscription: Subscription
  readonly #ownerOf: OwnerOf
  /** The next reading and the next change of a state that it has not been told. */
  next: number
  nextState: number
  /** It goes on at this position, which has not come yet; undefined for one that has a place. */
  awaited: { readonly position: number; readonly sinceMs: number } | undefined
  /** Undefined while it takes what it gets. */
  blockedSinceMs: number | undefined
  /** It took nothing for a while, so it need not get each reading. */
  isSlow = false

  constructor(sink: EventSink, subscription: Subscription, ownerOf: OwnerOf, next: number, nextState: number) {
    this.sink = sink
    this.subscription = subscription
    this.#ownerOf = ownerOf
    this.next = next
    this.nextState = nextState
  }

  /** Whether it may be told something. */
  get isReady(): boolean {
    return this.blockedSinceMs === undefined && this.awaited === undefined
  }

  /** Whether it is told what comes from this number on, all of it. */
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

  /** Whose device it is does not count: who manages a rule gets its alerts. */
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

/** The clients that are told readings of a device, by its number, without those that are told readings of all. */
export type WatchersOf = (device: number) => readonly EventClient[]

const nobody: readonly EventClient[] = []

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
    return device => byDevice.get(device) ?? nobody
  }
  return device => {
    const owning = byOwner.get(ownerOf(device) ?? Number.NaN) ?? nobody
    const asked = [...(byDevice.get(device) ?? nobody), ...tagged]
    return [...asked.filter(client => client.wantsReading(device)), ...owning]
  }
}

function add(lists: Map<number, EventClient[]>, key: number, client: EventClient): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [client])
  else list.push(client)
}
