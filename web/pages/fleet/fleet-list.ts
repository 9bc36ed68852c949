/** The fleet in the browser: a list of devices as signals, kept current by events and by reading its first page. */

import { type ReadonlySignal, signal } from '@preact/signals'
import type { ReadingEvent } from '../../../query/live/events/event-shape.ts'
import type { Fleet as FleetAnswer, FleetDevice } from '../../../query/live/fleet-shape.ts'
import { addressOf } from '../../client/address.ts'
import { serverNowMs, setServerTime } from '../../client/clock.ts'
import { openEvents } from '../../client/events.ts'
import { alertChanged } from '../../client/firing.ts'
import { readJson } from '../../client/read-json.ts'
import { openResource } from '../../client/resource.ts'
import type { ResourceState } from '../../client/resource-state.ts'
import type { DeviceState } from '../../text/kind-words.ts'
import { type Descriptions, isBuiltIn } from '../../text/quantities.ts'
import { type Counts, FleetDevices, totalOf } from './fleet-devices.ts'
import { tagArguments } from './fleet-view.ts'

const pageLimit = 1_000
/** The maximum age of the list without and with events. Hourly figures of all devices change by the hour. */
const listMsMax = { polled: 60_000, live: 3_600_000 }
/** Many readings a second change the page once. */
const showEveryMs = 500

class FleetList {
  /** The list is of the devices with all these. */
  readonly tags: readonly string[]
  readonly devices = signal<readonly FleetDevice[]>([])
  /** Counts of the devices with the chosen tags, known from the first page on. */
  readonly counts = signal<Counts>()
  /** True once all devices are loaded. */
  readonly isComplete = signal(false)
  /** Custom metrics by name. */
  readonly metrics = signal<Descriptions>({})
  readonly #known = new FleetDevices()
  readonly #closing = new AbortController()
  /** States that came while the list was on its way. It may have been made before. */
  readonly #statesMeanwhile = new Map<string, DeviceState>()
  /** Metrics that came with events before any list had described them. */
  readonly #awaited = new Set<string>()
  #loading: Promise<void> | undefined
  #completeAtMs = Number.NEGATIVE_INFINITY
  #showTimer: ReturnType<typeof setTimeout> | undefined

  constructor(tags: readonly string[]) {
    this.tags = tags
  }

  /** The first page; `isNew`: false when the service said that nothing in it has changed. */
  takeFirst(first: FleetAnswer, { isNew, isLive }: { isNew: boolean; isLive: boolean }): void {
    if (isNew) {
      setServerTime(first.generated_at)
      this.#describe(first.metrics)
    }
    if (isNew && first.next === null) {
      this.#known.replace(first.devices)
      this.#finish()
    } else if (isNew) {
      this.#known.take(first.devices)
      this.counts.value = first.counts
      this.#show()
    }
    if (first.next === null || (this.isComplete.value && !this.#isOld(first.counts, isLive))) return
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined
    })
  }

  takeReading(event: ReadingEvent['data']): void {
    const isDescribed = (name: string) => isBuiltIn(name) || Object.hasOwn(this.metrics.peek(), name)
    const values = Object.fromEntries(Object.entries(event.values).filter(([name]) => isDescribed(name)))
    const isKnown = this.#known.takeReading({ ...event, values })
    this.#changed(isKnown)
    if (isKnown || this.tags.length === 0) this.#await(Object.keys(event.values).filter(name => !isDescribed(name)))
  }

  /** The next list describes them, and has their values. Each is asked for once: it need not be among the first of any device. */
  #await(names: readonly string[]): void {
    const isNew = names.some(name => !this.#awaited.has(name))
    for (const name of names) this.#awaited.add(name)
    if (isNew && this.isComplete.value) this.invalidate()
  }

  #describe(metrics: Descriptions = {}): void {
    const known = this.metrics.peek()
    const isNew = Object.entries(metrics).some(([name, one]) => JSON.stringify(one) !== JSON.stringify(known[name]))
    if (isNew) this.metrics.value = { ...known, ...metrics }
  }

  takeState(name: string, state: DeviceState): void {
    if (this.#loading !== undefined) this.#statesMeanwhile.set(name, state)
    this.#changed(this.#known.takeState(name, state))
  }

  /** Events may have been missed: the whole list loads again after the next first page. */
  invalidate(): void {
    this.#completeAtMs = Number.NEGATIVE_INFINITY
  }

  close(): void {
    this.#closing.abort()
    clearTimeout(this.#showTimer)
  }

  /** The list adds a new device. With tags, the first page's counts show whether it belongs here. */
  #changed(isKnown: boolean): void {
    if (isKnown) this.#showSoon()
    else if (this.isComplete.value && this.tags.length === 0) this.invalidate()
  }

  #isOld(counts: Counts, isLive: boolean): boolean {
    const nowMs = serverNowMs.peek()
    const isHourOver = Math.floor(nowMs / listMsMax.live) !== Math.floor(this.#completeAtMs / listMsMax.live)
    const isOverdue = !isLive && nowMs - this.#completeAtMs > listMsMax.polled
    return isHourOver || isOverdue || totalOf(counts) !== this.#known.size
  }

  /** Pages by name, so that a state change does not hide a device. The next first page repeats a failed load. */
  async #load(): Promise<void> {
    const all: FleetDevice[] = []
    this.#statesMeanwhile.clear()
    for (let after: string | null = ''; after !== null; ) {
      const page: FleetAnswer | undefined = await this.#readPage(after)
      if (page === undefined) return
      all.push(...page.devices)
      after = page.next
      this.#describe(page.metrics)
      this.#known.take(page.devices)
      this.#showSoon()
    }
    this.#known.replace(all)
    for (const [name, state] of this.#statesMeanwhile) this.#known.takeState(name, state)
    this.#finish()
  }

  async #readPage(after: string): Promise<FleetAnswer | undefined> {
    const from = after === '' ? '' : `&after=${encodeURIComponent(after)}`
    const url = addressOf(`/api/fleet?order=name&limit=${pageLimit}${from}${tagArguments(this.tags)}`)
    const outcome = await readJson<FleetAnswer>(url, { signal: this.#closing.signal }).catch(() => undefined)
    return outcome?.kind === 'answer' ? outcome.value : undefined
  }

  #finish(): void {
    this.#completeAtMs = serverNowMs.peek()
    this.isComplete.value = true
    this.#show()
  }

  #showSoon(): void {
    this.#showTimer ??= setTimeout(() => this.#show(), showEveryMs)
  }

  #show(): void {
    clearTimeout(this.#showTimer)
    this.#showTimer = undefined
    this.devices.value = this.#known.list()
    if (this.isComplete.value) this.counts.value = this.#known.counts()
  }
}

export interface Fleet extends Pick<FleetList, 'devices' | 'counts' | 'metrics' | 'isComplete' | 'tags'> {
  /** The first page with the service's state. */
  first: ReadonlySignal<ResourceState<FleetAnswer>>
  /** True while events arrive. */
  isLive: ReadonlySignal<boolean>
  /** Reads again after a person's change. */
  refresh(): void
  close(): void
}

/** Enough to fill a screen with the worst. */
const firstLimit = 200
const everyMs = 10_000

/** The devices with all these tags; without tags, all devices. */
export function openFleet(tags: readonly string[]): Fleet {
  const list = new FleetList(tags)
  const isLive = signal(false)
  const first = openResource<FleetAnswer>(addressOf(`/api/fleet?limit=${firstLimit}${tagArguments(tags)}`), { everyMs })
  let taken: FleetAnswer | undefined
  const stop = first.state.subscribe(state => {
    if (state.kind !== 'ready') return
    const isNew = state.value !== taken
    taken = state.value
    list.takeFirst(state.value, { isNew, isLive: isLive.peek() })
  })
  const refresh = () => {
    list.invalidate()
    void first.refresh()
  }
  const closeEvents = openEvents(addressOf('/api/events'), {
    on: {
      reading: data => list.takeReading(data),
      state: ({ device, state }) => list.takeState(device, state),
      alert: alertChanged,
    },
    onLive: live => {
      isLive.value = live
    },
    onGap() {
      refresh()
      alertChanged()
    },
  })
  return {
    tags,
    devices: list.devices,
    counts: list.counts,
    metrics: list.metrics,
    isComplete: list.isComplete,
    first: first.state,
    isLive,
    refresh,
    close() {
      stop()
      closeEvents()
      first.close()
      list.close()
    },
  }
}
