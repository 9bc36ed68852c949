/**
 * Sends stored readings and changes of states and alerts to clients. Readings since the last tick are written once and
 * sent to all up-to-date clients. A client that does not read falls behind: the readings stay in the ring, not in its
 * buffer. When it reads again it resumes from its place, or with the last reading of each device. The hub never waits
 * for a client.
 */

import { setImmediate as turn } from 'node:timers/promises'
import { bug } from '../../../store/limits/bug.ts'
import { EventClient, type EventMeter, type EventSink, type OwnerOf, type Subscription } from './event-client.ts'
import {
  alertEvent,
  beat,
  beatWithoutCursor,
  type ChangedAlert,
  type EventCursors,
  type EventText,
  eventText,
  type MetricOf,
  resetEvent,
  stateEvent,
} from './event-text.ts'
import { type ReadingGroup, ReadingRing } from './reading-ring.ts'

import { type EventPlace, Resumption } from './resumption.ts'
import { type StateChange, StateLog } from './state-log.ts'
import { readingsPerTick, Ticks, type TickTextsOptions, textOfStep, textsOfTick } from './tick-texts.ts'

export interface HubOptions {
  /** Cursors of this run of the service, or of the journal where other nodes send the same events. */
  cursors: EventCursors
  /** Set where other nodes send the same events: no reading before this position will be appended any more. */
  nextPosition?: (() => number) | undefined
  /** False while state changes are not sent. */
  areStatesSent?: () => boolean
  windowMs: number
  windowBytes: number
  nameOf: (deviceNumber: number) => string | undefined
  ownerOf: OwnerOf
  /** Without it, values without a column are not sent. */
  metricOf?: MetricOf
  nowMs: () => number
  meter: EventMeter
  failed: (error: unknown) => void
  tickMs?: number
  beatMs?: number
  slowMsMax?: number
}

const clientsPerTurn = 100
/** Wait for readings that another node has sent already: this node may read them later. */
const awaitedMsMax = 10_000

export class EventHub {
  readonly #options: HubOptions & Required<Pick<HubOptions, 'tickMs' | 'slowMsMax'>>
  readonly #ring: ReadingRing
  readonly #texts: TickTextsOptions
  readonly #states = new StateLog()
  readonly #resumption: Resumption
  readonly #clients = new Set<EventClient>()
  readonly #ticks: Ticks
  readonly #beats: NodeJS.Timeout
  /** All earlier readings have been sent to up-to-date clients. */
  #distributed = 0
  /**
   * Time at which the last client left. Readings are then kept for the window, unless clients may come from other
   * nodes.
   */
  #leftMs = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(options: HubOptions) {
    this.#options = { tickMs: 100, slowMsMax: 30_000, ...options }
    const { windowBytes: bytesMax, windowMs: ageMsMax, nowMs, nextPosition, areStatesSent = () => true } = options
    this.#ring = new ReadingRing({ bytesMax, ageMsMax, nowMs, nextPosition })
    this.#texts = { ...options, ring: this.#ring, metricOf: options.metricOf ?? (() => undefined) }
    const isShared = nextPosition !== undefined
    this.#resumption = new Resumption({ ring: this.#ring, states: this.#states, isShared, areStatesSent })
    const { tickMs } = this.#options
    this.#ticks = new Ticks({ tickMs, work: () => this.#tick(), failed: error => this.#failed(error) })
    this.#beats = setInterval(() => this.#beat(), options.beatMs ?? 15_000).unref()
  }

  get size(): number {
    return this.#clients.size
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  store(readings: ReadingGroup): void {
    const { nowMs, windowMs, nextPosition } = this.#options
    this.#resumption.noteStates()
    // No client is connected, and none will resume from these readings.
    const isUnwanted = this.size === 0 && nextPosition === undefined && nowMs() - this.#leftMs > windowMs
    if (isUnwanted) this.#ring.skip(readings.count)
    else this.#ring.append(readings)
    if (this.size === 0) this.#distributed = this.#ring.head
    else this.#ticks.wake()
  }

  /** Readings were stored without passing the hub: every client has to reload. */
  missed(): void {
    this.#ring.skip(1)
    if (this.size === 0) this.#distributed = this.#ring.head
    else this.#ticks.wake()
  }

  stateChanged(device: number, state: string): void {
    const name = this.#options.nameOf(device)
    if (name === undefined) return
    this.#change({ device, text: stateEvent(name, state), isNamed: true })
  }

  alertChanged({ device, owner, data }: ChangedAlert): void {
    const isNamed = device !== 0 && data.device !== null
    this.#change({ device, alert: { owner }, text: alertEvent(data), isNamed })
  }

  #change(change: Omit<StateChange, 'atReading' | 'atMs'>): void {
    this.#states.add({ atReading: this.#ring.head, atMs: this.#options.nowMs(), ...change })
    if (this.size > 0) this.#ticks.wake()
  }

  /** Returns a function that ends the subscription. */
  subscribe(sink: EventSink, subscription: Subscription, lastEventId?: string): () => void {
    const { cursors, ownerOf, nowMs } = this.#options
    const position = lastEventId === undefined ? undefined : cursors.read(lastEventId)
    const present: EventPlace = { next: this.#ring.head, nextState: this.#states.head }
    const client = new EventClient(sink, subscription, ownerOf, present.next, present.nextState)
    this.#clients.add(client)
    this.#options.meter.clients(this.size)
    sink.onDrained(() => this.#drained(client))
    const place = position === undefined ? undefined : this.#resumption.placeAt(position)
    if (position !== undefined && place === 'ahead') {
      client.awaited = { position, sinceMs: nowMs() }
      this.#send(client, eventText(beatWithoutCursor, 0))
    } else if (place === undefined && lastEventId !== undefined) {
      this.#send(client, eventText(resetEvent(this.#cursorAt(present.next)), 1))
    } else this.#place(client, place === undefined || place === 'ahead' ? present : place)
    this.#ticks.wake()
    return () => this.#end(client)
  }

  /** Sets the client's place and sends a cursor for it. */
  #place(client: EventClient, { next, nextState }: EventPlace): void {
    client.awaited = undefined
    client.next = next
    client.nextState = nextState
    this.#send(client, eventText(beat(this.#cursorAt(next)), 0))
  }

  /** Cursor of a client that has received all readings before this number. */
  #cursorAt(number: number): string {
    return this.#options.cursors.text(this.#ring.position(number))
  }

  /** Places clients whose positions have been stored. */
  #placeAwaiting(): void {
    const { nowMs } = this.#options
    for (const client of this.#clients) {
      if (client.awaited === undefined) continue
      const { position, sinceMs } = client.awaited
      const place = this.#resumption.placeAt(position)
      if (place !== 'ahead' && place !== undefined) this.#place(client, place)
      else if (place === undefined || nowMs() - sinceMs > awaitedMsMax) this.#reset(client)
    }
  }

  close(): void {
    this.#isClosed = true
    this.#ticks.close()
    clearInterval(this.#beats)
    for (const client of this.#clients) this.#end(client)
  }

  /** Returns the delay until the next tick. */
  async #tick(): Promise<number | undefined> {
    await this.#distribute()
    if (await this.#catchUp()) return 0
    return this.#distributed < this.#ring.head ? this.#options.tickMs : undefined
  }

  /** An internal error: connected clients would miss readings. */
  #failed(error: unknown): void {
    this.#options.failed(error)
    for (const client of this.#clients) this.#end(client)
  }

  /** Sends the readings since the last tick to all clients that are at its beginning. */
  async #distribute(): Promise<void> {
    this.#placeAwaiting()
    const from = Math.max(this.#distributed, this.#ring.tail)
    const to = this.#ring.head
    const ready = [...this.#clients].filter(client => client.isAt(from) && client.isReady)
    const texts = await textsOfTick(this.#texts, ready, from, to)
    let sent = 0
    for (const client of ready) {
      // Readings were overwritten meanwhile, so the client is behind and will be reset.
      if (from < this.#ring.tail) break
      client.next = to
      this.#send(client, texts(client))
      if (++sent % clientsPerTurn === 0) await turn()
    }
    this.#distributed = to
    for (const client of this.#clients) {
      if (client.next > this.#ring.head)
        throw bug(`client at ${client.next} is ahead of the ring at ${this.#ring.head}`)
      this.#sendStates(client)
    }
  }

  /** Sends one step to each client that is behind, and returns whether any still is. */
  async #catchUp(): Promise<boolean> {
    const isBehind = (client: EventClient) => client.next < this.#distributed && client.isReady
    for (const client of [...this.#clients].filter(isBehind)) {
      if (client.next < this.#ring.tail) this.#reset(client)
      else await this.#step(client)
      await turn()
    }
    return [...this.#clients].some(isBehind)
  }

  async #step(client: EventClient): Promise<void> {
    const { next, text } = await textOfStep(this.#texts, client, this.#distributed)
    if (client.next < this.#ring.tail) return
    if (next < client.next) throw bug(`client moved back from ${client.next} to ${next}`)
    client.isSlow = false
    client.next = next
    this.#send(client, text)
    this.#sendStates(client)
  }

  #reset(client: EventClient): void {
    client.awaited = undefined
    client.next = this.#distributed
    client.nextState = this.#states.head
    this.#send(client, eventText(resetEvent(this.#cursorAt(this.#distributed)), 1))
  }

  /** State changes follow the readings that came before them. */
  #sendStates(client: EventClient): void {
    const isUpToDate = client.nextState === this.#states.head
    if (isUpToDate || !client.isReady || client.next < this.#distributed) return
    if (!this.#states.has(client.nextState)) {
      this.#reset(client)
      return
    }
    const news = this.#states
      .from(client.nextState)
      .filter(change => client.wantsChange(change) && !this.#namesRemoved(change))
    client.nextState = this.#states.head
    const text = news.map(({ text }) => text).join('')
    this.#send(client, eventText(text, news.length))
  }

  /** Every node removes a device before its erasure is complete. */
  #namesRemoved({ device, isNamed }: StateChange): boolean {
    return isNamed && this.#options.nameOf(device) === undefined
  }

  #send(client: EventClient, text: EventText | undefined): void {
    if (text === undefined || text.bytes.length === 0 || !this.#clients.has(client)) return
    this.#options.meter.sent(text.count)
    if (!client.sink.write(text.bytes)) client.blockedSinceMs ??= this.#options.nowMs()
  }

  #drained(client: EventClient): void {
    client.blockedSinceMs = undefined
    client.isSlow = this.#distributed - client.next > readingsPerTick
    this.#ticks.wake(0)
  }

  #end(client: EventClient): void {
    if (!this.#clients.delete(client)) return
    this.#options.meter.clients(this.size)
    if (this.size === 0) this.#leftMs = this.#options.nowMs()
    client.sink.destroy()
  }

  #drop(client: EventClient): void {
    this.#options.meter.dropped()
    this.#end(client)
  }

  #beat(): void {
    const { nowMs, slowMsMax } = this.#options
    const cutMs = nowMs() - slowMsMax
    this.#placeAwaiting()
    const text = eventText(beat(this.#cursorAt(this.#distributed)), 0)
    for (const client of this.#clients) {
      if (client.blockedSinceMs !== undefined && client.blockedSinceMs <= cutMs) this.#drop(client)
      else if (client.isReady && client.isAt(this.#distributed)) this.#send(client, text)
    }
  }
}
