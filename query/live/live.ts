/** Entry point of the live state: keeps the fleet page's data up to date, and answers from memory. */

import type { Log } from '../../store/log.ts'
import type { AskFleetRows } from '../answers/fleet-rows.ts'
import type { HourSources } from '../questdb/hourly-sql.ts'
import type { MetricDescription } from '../shapes/kinds.ts'
import type { DeviceSilence, LiveDevice } from './device-state.ts'
import { type FleetMapRequest, mapOf } from './fleet-map.ts'
import { type FleetOrder, groupsOf, type ListedDevice, ListedOrder } from './fleet-order.ts'
import { type FleetPageRequest, type FoundPage, pageOf, searchPage } from './fleet-page.ts'
import type { FleetGroups, FleetMap, FleetTrends, LatestOfDevice } from './fleet-shape.ts'
import { type DeviceTexts, deviceText, latestOf, trendsOf } from './fleet-text.ts'
import type { StoredReadings } from './latest-values.ts'
import { LiveFleet, type StateListener } from './live-fleet.ts'
import { createLiveLoading } from './live-load.ts'
import { createLiveLookups, type Ordinals } from './live-lookups.ts'
import type { LiveMetricsOf } from './live-rows.ts'
import type { LiveCounts, LiveState } from './live-state.ts'

export interface LiveOptions {
  readonly ask: AskFleetRows
  readonly hourSources: () => HourSources
  readonly nowMs: () => number
  readonly receivedUntilMs?: (() => number) | undefined
  /** Readings may be ahead of the clock by this much. */
  readonly aheadMs: number
  /** QuestDB may lack readings that were not passed to `take`, from a journal of an earlier run. */
  readonly isCatchingUp: () => boolean
  readonly ordinals: () => Ordinals
  /** Without it, devices have only the built-in metrics. */
  readonly metricsOf?: LiveMetricsOf
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  readonly retryMs?: number
  readonly lookUpEveryMs?: number
}

export interface FleetPage {
  /** Each a JSON object. */
  readonly devices: readonly string[]
  /** The custom metrics of these devices, by name. */
  readonly metrics: Readonly<Record<string, MetricDescription>>
  /** Start of the next page; undefined on the last one. */
  readonly last: { readonly state: LiveState; readonly name: string } | undefined
}

export interface Live {
  /** Takes the whole registry in the order of names, once. */
  fill(devices: readonly LiveDevice[]): void
  deviceChanged(device: LiveDevice): void
  deviceRemoved(number: number): void
  /** Removes all data of these series of metrics. Rejects when this is closed meanwhile. */
  seriesErased(numbers: readonly number[]): Promise<void>
  /** Takes a group of readings that became durable. */
  take(readings: StoredReadings): void
  /**
   * Loads the state when QuestDB answers, and again whenever `load` is called, because QuestDB may have gained or lost
   * readings.
   */
  load(): void
  /** False before the first load: until then the state of the fleet is unknown. */
  isLoaded(): boolean
  /** Some readings may still be missing. */
  isCatchingUp(): boolean
  /** `of` are the counted devices, which ascend by name; undefined for all. The same holds below. */
  counts(of?: readonly ListedDevice[]): LiveCounts
  page(request: FleetPageRequest, of?: readonly ListedDevice[]): FleetPage
  /** Undefined while too many searches run. */
  search(
    request: FleetPageRequest,
    text: string,
    client: AbortSignal,
    of?: readonly ListedDevice[],
  ): Promise<FleetPage> | undefined
  /** Groups devices by their tags of this key. Undefined while too many searches run. */
  groups(key: string, of?: readonly ListedDevice[]): Promise<Omit<FleetGroups, 'generated_at'>> | undefined
  /** Devices by place. Undefined while too many searches run. */
  map(request: FleetMapRequest, of?: readonly ListedDevice[]): Promise<Omit<FleetMap, 'generated_at'>> | undefined
  /** `number` is the registry's. Undefined for an unknown device. */
  latest(number: number): LatestOfDevice | undefined
  /** Trends of these devices, for those that have any. */
  trends(of: readonly ListedDevice[]): Omit<FleetTrends, 'generated_at'>
  stateOf(number: number): LiveState | undefined
  silenceOf(number: number): DeviceSilence | undefined
  /** Share of the expected readings in the full hour that began then, epoch milliseconds; NaN where unknown. */
  hourShareOf(number: number, hourBeginMs: number): number
  /** Calls the listener with each change of a state from the first load on. */
  onState(listener: StateListener): void
  close(): Promise<void>
}

const tickMsMin = 20
/** Bounds the sleep, because the clock may be set. */
const tickMsMax = 1000
/** Smaller backward steps of the clock are ignored. */
const stepMsMin = 1000
/** Concurrent walks through all devices. */
const walksMax = 4

export function createLive(options: LiveOptions): Live {
  const {
    ask,
    hourSources,
    aheadMs,
    nowMs,
    receivedUntilMs = nowMs,
    ordinals,
    log,
    retryMs = 2000,
    lookUpEveryMs = 2000,
  } = options
  const { metricsOf = () => [] } = options
  const closing = new AbortController()
  const { signal } = closing
  const failed = (error: unknown) => log.error({ err: error }, 'a listener to states of devices failed')
  const fleet: LiveFleet = new LiveFleet({ nowMs, receivedUntilMs, wants: number => lookups.want(number), failed })
  const shared = { fleet, ask, hourSources, nowMs, aheadMs, metricsOf }
  const lookups = createLiveLookups({ ...shared, ordinals, pauseMs: lookUpEveryMs })
  const loading = createLiveLoading({ ...shared, want: lookups.want, retryMs, signal, log })
  const ended = (error: unknown) => {
    if (!signal.aborted) log.error({ err: error }, 'the state of the fleet is not brought up to date any more')
  }
  const running = lookups.run(signal).catch(ended)
  const clock = startClock(fleet, { nowMs, receivedUntilMs, hourSources, isLoaded: loading.isLoaded, ended, signal })
  return {
    fill: devices => fleet.fill(devices),
    deviceChanged: device => fleet.deviceChanged(device),
    deviceRemoved: number => fleet.deviceRemoved(number),
    seriesErased: numbers => fleet.forgetSeries(new Set(numbers), signal),
    take: readings => fleet.take(readings),
    load: loading.start,
    isLoaded: loading.isLoaded,
    isCatchingUp: options.isCatchingUp,
    counts: of => orderOf(fleet, of).counts,
    ...createPages(fleet, nowMs, metricsOf, signal),
    latest(number) {
      const device = fleet.get(number)
      return device && latestOf(device, metricsOf)
    },
    trends: of =>
      trendsOf(
        of.flatMap(({ number }) => fleet.get(number) ?? []),
        nowMs(),
      ),
    stateOf: number => fleet.get(number)?.state,
    silenceOf: number => fleet.get(number)?.silence(),
    hourShareOf: (number, hourBeginMs) => fleet.get(number)?.hourShare(hourBeginMs) ?? Number.NaN,
    onState: listener =>
      fleet.onState((...change) => {
        if (loading.isLoaded()) listener(...change)
      }),
    async close() {
      closing.abort()
      clock.stop()
      await Promise.all([running, loading.idle()])
    },
  }
}

function orderOf(fleet: LiveFleet, of: readonly ListedDevice[] | undefined): FleetOrder {
  return of === undefined ? fleet.order : new ListedOrder(of, number => fleet.get(number))
}

function createPages(
  fleet: LiveFleet,
  nowMs: () => number,
  metricsOf: LiveMetricsOf,
  closed: AbortSignal,
): Pick<Live, 'page' | 'search' | 'groups' | 'map'> {
  let walks = 0

  function pageWith({ devices, hasMore }: FoundPage): FleetPage {
    const last = hasMore ? devices.at(-1) : undefined
    const texts: DeviceTexts = { nowMs: nowMs(), metricsOf, described: new Map() }
    return {
      devices: devices.map(device => deviceText(texts, device)),
      metrics: Object.fromEntries(texts.described),
      last: last && { state: last.state, name: last.device.name },
    }
  }

  /** Undefined while the limit of concurrent walks is reached. */
  function bounded<Found>(find: () => Promise<Found>): Promise<Found> | undefined {
    if (walks === walksMax) return undefined
    walks++
    return find().finally(() => walks--)
  }

  return {
    page: (request, of) => pageWith(pageOf(orderOf(fleet, of), request)),
    search: (request, text, client, of) =>
      bounded(async () =>
        pageWith(await searchPage(fleet, orderOf(fleet, of), request, text, AbortSignal.any([client, closed]))),
      ),
    groups: (key, of) => bounded(() => groupsOf(orderOf(fleet, of), key, closed)),
    map: (request, of) => bounded(() => mapOf(orderOf(fleet, of), request, closed)),
  }
}

interface ClockOptions {
  readonly nowMs: () => number
  readonly receivedUntilMs: () => number
  readonly hourSources: () => HourSources
  readonly isLoaded: () => boolean
  readonly ended: (error: unknown) => void
  readonly signal: AbortSignal
}

/** Applies changes that depend on time alone: states and expired readings. */
function startClock(fleet: LiveFleet, options: ClockOptions): { stop(): void } {
  const { nowMs, receivedUntilMs, hourSources, isLoaded, ended, signal } = options
  let forgottenBeforeUs = Number.NEGATIVE_INFINITY
  let lastMs = nowMs()
  let timer = setTimeout(tick, tickMsMax).unref()

  function tick(): void {
    const isBehind = fleet.advance()
    const waitMs = isBehind ? 0 : Math.min(tickMsMax, Math.max(tickMsMin, fleet.nextDeadlineMs() - receivedUntilMs()))
    timer = setTimeout(tick, waitMs).unref()
    // The limits of states count whole seconds, so a smaller step changes little.
    if (nowMs() < lastMs - stepMsMin) void fleet.updateAll(signal).catch(ended)
    lastMs = nowMs()
    const { expiredBeforeUs } = hourSources()
    if (!isLoaded() || expiredBeforeUs <= forgottenBeforeUs) return
    forgottenBeforeUs = expiredBeforeUs
    void fleet.forgetBefore(expiredBeforeUs, signal).catch(ended)
  }

  return { stop: () => clearTimeout(timer) }
}
