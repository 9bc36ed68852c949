/**
 * Publishes the devices for Home Assistant at an outside broker. Only the numbers of changed devices wait: their present values
 * come from the live state when they are sent, so an absent broker costs a number for each device.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Devices } from '../../auth/devices/devices.ts'
import type { Metrics } from '../../auth/metrics/metrics.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import { type BrokerSession, openBrokerSession, type PublishedMessage } from '../../ingest/mqtt/broker-session.ts'
import type { BrokerAddress } from '../../ingest/mqtt/broker-socket.ts'
import type { Live } from '../../query/live/live.ts'
import type { Log } from '../../store/log.ts'
import type { Metric } from '../../store/metrics/metric.ts'
import { isMetricName } from '../../store/metrics/metric-name.ts'
import {
  configMessages,
  type DiscoveredDevice,
  removedConfigs,
  removedDevice,
  stateMessages,
  type Topics,
  topicsOf,
} from './discovery.ts'

export interface HomeAssistantOptions {
  /** Its client identifier is the first level of the topics. */
  address: BrokerAddress
  devices: Pick<Devices, 'all' | 'byNumber' | 'onChange'>
  metrics: Pick<Metrics, 'get' | 'series'>
  live: Pick<Live, 'latest' | 'onState' | 'isLoaded'>
  ingest: Pick<Ingest, 'onStored'>
  /** True on the node that publishes. */
  leads: () => boolean
  publicUrl: string | undefined
  log: Pick<Log, 'info' | 'warn' | 'error'>
  tickMs?: number
}

export interface HomeAssistant {
  close(): Promise<void>
}

/** Messages of a second, exceeded by one device at most. */
const messagesPerTick = 1000
const orphansPerTick = 10
const orphansMax = 10_000
/** Time for the retained messages of earlier runs to arrive. */
const settleMs = 1000
const retryMsMin = 500
const retryMsMax = 30_000
const openMsMax = 10_000

/** The parts of a device in the broker's retained messages. */
interface Published {
  readonly symbol: string
  readonly metrics: readonly string[]
  /** Undefined where an earlier run has published it. */
  readonly described?: string
}

export function openHomeAssistant(options: HomeAssistantOptions): HomeAssistant {
  const publisher = new HomeAssistantPublisher(options)
  const { devices, live, ingest, log } = options
  const mark = ({ number }: { number: number }) => publisher.mark(number)
  devices.onChange(mark)
  live.onState(mark)
  ingest.onStored(
    readings => {
      while (readings.next()) publisher.mark(readings.series)
    },
    () => publisher.markAll(),
  )
  const running = publisher.run().catch(error => log.error({ err: error }, 'publishing for Home Assistant failed'))
  return {
    async close() {
      publisher.stop()
      await running
    },
  }
}

class HomeAssistantPublisher {
  readonly #options: HomeAssistantOptions
  readonly #topics: Topics
  readonly #closing = new AbortController()
  /** Keys are numbers of devices. */
  readonly #published = new Map<number, Published>()
  readonly #changed = new Set<number>()
  /** Metrics of devices that were removed before this run, by symbol. */
  readonly #orphans = new Map<string, readonly string[]>()
  #session: BrokerSession | undefined
  #retryMs = retryMsMin
  #isWarned = false

  constructor(options: HomeAssistantOptions) {
    this.#options = options
    this.#topics = topicsOf(options.address.clientId)
  }

  mark(device: number): void {
    this.#changed.add(device)
  }

  markAll(): void {
    for (const { number } of this.#options.devices.all()) this.mark(number)
    for (const number of this.#published.keys()) this.mark(number)
  }

  async run(): Promise<void> {
    const { tickMs = 1000 } = this.#options
    while (!this.#closing.signal.aborted) {
      await this.#step()
      await this.#pause(tickMs)
    }
  }

  /** Ends the session without a goodbye, so that the broker publishes the will. */
  stop(): void {
    this.#closing.abort()
  }

  async #step(): Promise<void> {
    const { leads, live } = this.#options
    if (!leads()) {
      this.#leave()
      return
    }
    if (!live.isLoaded()) return
    try {
      if (this.#session === undefined) await this.#open()
      else if (this.#changed.size + this.#orphans.size > 0) await this.#publishSome(this.#session)
    } catch (error) {
      if (this.#closing.signal.aborted) return
      this.#leave()
      this.#warn(error)
      await this.#pause(this.#retryMs)
      this.#retryMs = Math.min(2 * this.#retryMs, retryMsMax)
    }
  }

  async #open(): Promise<void> {
    const { address, log } = this.#options
    const giveUp = new AbortController()
    const timer = setTimeout(() => giveUp.abort(new Error('no answer from the broker')), openMsMax)
    const session = await openBrokerSession(
      {
        ...address,
        clientId: `${address.clientId}-home-assistant`,
        will: { topic: this.#topics.status, payload: 'offline' },
        retainedOf: this.#topics.states,
        onRetained: (topic, payload) => this.#noteRetained(topic, payload),
        onEnded: error => this.#lost(error),
      },
      AbortSignal.any([this.#closing.signal, giveUp.signal]),
    ).finally(() => clearTimeout(timer))
    // A broker may have lost its retained messages.
    for (const [number, { symbol, metrics }] of this.#published) this.#published.set(number, { symbol, metrics })
    this.markAll()
    await this.#pause(settleMs)
    await session.publish([{ topic: this.#topics.status, payload: 'online', retain: true }])
    this.#session = session
    this.#retryMs = retryMsMin
    this.#isWarned = false
    log.info({}, 'devices are published for Home Assistant')
  }

  /** The state of a device in an earlier run. */
  #noteRetained(topic: string, payload: string): void {
    const symbol = this.#topics.symbolOf(topic)
    const number = Number(/-(\d+)$/.exec(symbol)?.[1] ?? Number.NaN)
    if (this.#options.devices.byNumber(number)?.symbol !== symbol) {
      if (this.#orphans.size < orphansMax) this.#orphans.set(symbol, keysOf(payload))
    } else if (!this.#published.has(number)) {
      this.#published.set(number, { symbol, metrics: keysOf(payload) })
      this.mark(number)
    }
  }

  #lost(error: Error): void {
    this.#session = undefined
    if (!this.#closing.signal.aborted) this.#warn(error)
  }

  #leave(): void {
    this.#session?.close()
    this.#session = undefined
  }

  #warn(error: unknown): void {
    const { log } = this.#options
    if (!this.#isWarned) log.warn({ reason: String(error) }, 'cannot publish devices for Home Assistant, retrying')
    this.#isWarned = true
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined)
  }

  /** Sends some changed devices. They stay changed until the broker has acknowledged them. */
  async #publishSome(session: BrokerSession): Promise<void> {
    const orphans = [...this.#orphans.keys().take(orphansPerTick)]
    const messages = orphans.flatMap(symbol => {
      return removedDevice(this.#topics, symbol, this.#orphans.get(symbol) ?? [])
    })
    const after = new Map<number, Published | undefined>()
    for (const number of this.#changed) {
      if (messages.length >= messagesPerTick) break
      const { now, ...changes } = this.#changesOf(number)
      messages.push(...changes.messages)
      after.set(number, now)
      this.#changed.delete(number)
    }
    try {
      await session.publish(messages)
    } catch (error) {
      for (const number of after.keys()) this.mark(number)
      throw error
    }
    for (const symbol of orphans) this.#orphans.delete(symbol)
    for (const [number, now] of after) {
      this.#published.delete(number)
      if (now !== undefined) this.#published.set(number, now)
    }
  }

  #changesOf(number: number): { messages: PublishedMessage[]; now?: Published } {
    const topics = this.#topics
    const before = this.#published.get(number)
    const device = this.#describe(number, before)
    if (device === undefined) {
      return { messages: before === undefined ? [] : removedDevice(topics, before.symbol, before.metrics) }
    }
    const { symbol } = device
    const names = device.metrics.map(({ name }) => name)
    const gone = (before?.metrics ?? []).filter(name => !names.includes(name))
    const configs = configMessages(topics, device)
    const described = configs.map(({ payload }) => payload).join('\n')
    // States precede the configurations, so that their keys name all that the broker may have.
    const messages = [...removedConfigs(topics, symbol, gone), ...stateMessages(topics, device)]
    if (before?.described !== described) messages.push(...configs)
    return { messages, now: { symbol, metrics: names, described } }
  }

  /** Undefined for a device that was removed, or has no value yet. */
  #describe(number: number, before: Published | undefined): DiscoveredDevice | undefined {
    const { devices, live, publicUrl } = this.#options
    const device = devices.byNumber(number)
    const latest = live.latest(number)
    if (device === undefined || latest === undefined) return undefined
    const { symbol, name } = device
    // A metric without a present value keeps its entity.
    const names = new Set([...(before?.metrics ?? []), ...Object.keys(latest.values)])
    const metrics = [...names].map(each => this.#options.metrics.get(each)).filter(each => this.#has(number, each))
    if (metrics.length === 0) return undefined
    return {
      symbol,
      name,
      metrics,
      values: Object.fromEntries(metrics.map(each => [each.name, latest.values[each.name]?.v ?? null])),
      isAvailable: latest.state === 'fresh' || latest.state === 'late',
      url: publicUrl && `${publicUrl}/device/${encodeURIComponent(name)}`,
    }
  }

  #has(device: number, metric: Metric | undefined): metric is Metric {
    return metric !== undefined && (metric.built_in || this.#options.metrics.series(device, metric) !== undefined)
  }
}

/** The metrics of a state, which another program may have written. */
function keysOf(payload: string): string[] {
  try {
    const state: unknown = JSON.parse(payload)
    const keys = typeof state === 'object' && state !== null ? Object.keys(state) : []
    return keys.filter(isMetricName).slice(0, keysMax)
  } catch {
    return []
  }
}

/** More than a device may have. */
const keysMax = 200
