/**
 * The state of all devices in memory. It is updated by the registry, by durable readings, by data loaded from QuestDB
 * and by time, so questions about it read no readings.
 */

import { setImmediate as turn } from 'node:timers/promises'
import { bug } from '../../store/limits/bug.ts'
import { Deadlines } from './deadlines.ts'
import { hourUs } from './device-hours.ts'
import { DeviceState, type LiveDevice } from './device-state.ts'
import { NameOrder } from './fleet-order.ts'
import type { StoredReadings } from './latest-values.ts'
import type { LiveState } from './live-state.ts'

export type StateListener = (device: LiveDevice, before: LiveState, now: LiveState) => void

export interface LiveFleetOptions {
  readonly nowMs: () => number
  /**
   * The time up to which all readings have been received, by default now: a device is not late because of readings
   * still in transit.
   */
  readonly receivedUntilMs?: (() => number) | undefined
  readonly wants: (number: number) => void
  /** Receives errors of listeners. */
  readonly failed: (error: unknown) => void
}

/** Deadlines that are processed in one turn. Each takes a microsecond. */
const dueMax = 2000
const devicesPerTurn = 5000
/** The most devices that other processes may create before this one reads them. */
const unknownMax = 100_000

export class LiveFleet {
  readonly #options: LiveFleetOptions
  readonly #devices = new Map<number, DeviceState>()
  readonly #deadlines = new Deadlines<DeviceState>()
  readonly #listeners: StateListener[] = []
  /**
   * Numbers of devices with readings that this process' registry does not have: another process has created them, or
   * they were removed. Oldest first; the oldest are probably removed devices.
   */
  readonly #unknown = new Set<number>()
  readonly order = new NameOrder()

  constructor(options: LiveFleetOptions) {
    this.#options = options
  }

  /** Fills the whole registry, in the order of names, before any other call. */
  fill(devices: readonly LiveDevice[]): void {
    this.order.fill(devices.map(device => this.#add(device)))
  }

  deviceChanged(device: LiveDevice): void {
    const known = this.#devices.get(device.number)
    if (known === undefined) {
      this.order.add(this.#add(device))
      // Its earlier readings have reached QuestDB, or will.
      if (this.#unknown.delete(device.number)) this.#options.wants(device.number)
      return
    }
    const isRenamed = known.device.name !== device.name
    if (isRenamed) this.order.remove(known)
    if (known.configure(device)) this.#options.wants(device.number)
    if (isRenamed) this.order.add(known)
    this.update(known)
  }

  /** Removes the device with all its data. */
  deviceRemoved(number: number): void {
    const known = this.#devices.get(number)
    if (known === undefined) return
    this.order.remove(known)
    this.#deadlines.set(known, Number.POSITIVE_INFINITY)
    this.#devices.delete(number)
  }

  #add(device: LiveDevice): DeviceState {
    if (this.#devices.has(device.number)) throw bug(`device ${device.number} is in the fleet already`)
    const added = new DeviceState(device)
    this.#devices.set(device.number, added)
    return added
  }

  /**
   * Takes the readings of one group. States change behind the last of them, because a replayed history has many
   * readings of a device in a group.
   */
  take(readings: StoredReadings): void {
    const presentHour = Math.floor((this.#options.nowMs() * 1000) / hourUs)
    const receivedUntilMs = this.#receivedUntilMs()
    const touched = new Set<DeviceState>()
    while (readings.next()) {
      const device = this.#devices.get(readings.series)
      if (device === undefined) this.#addUnknown(readings.series)
      else if (this.#takeOne(device, readings, presentHour) && device.mayChange(receivedUntilMs)) touched.add(device)
    }
    for (const device of touched) this.update(device)
  }

  #addUnknown(number: number): void {
    if (this.#unknown.has(number)) return
    const [oldest] = this.#unknown
    if (oldest !== undefined && this.#unknown.size >= unknownMax) this.#unknown.delete(oldest)
    this.#unknown.add(number)
  }

  #receivedUntilMs(): number {
    const { nowMs, receivedUntilMs = nowMs } = this.#options
    return receivedUntilMs()
  }

  /** True when the reading is the last one of the device. */
  #takeOne(device: DeviceState, readings: StoredReadings, presentHour: number): boolean {
    const { timeUs } = readings
    const { lastUs, hours, values } = device
    const hour = Math.floor(timeUs / hourUs)
    let isWanted = values.take(readings)
    hours.begin(hour)
    if (timeUs > lastUs) {
      device.lastUs = timeUs
      if (device.noteInterval((timeUs - lastUs) / 1000)) isWanted = true
      if (hour <= presentHour + 1) {
        device.countReading(timeUs, hour)
        if (hours.addValue(hour, readings, values)) isWanted = true
      }
    } else if (timeUs < lastUs && hour >= presentHour - 25) isWanted = true
    if (isWanted) this.#options.wants(readings.series)
    return timeUs > lastUs
  }

  update(device: DeviceState): void {
    const { state, untilMs } = device.stateAt(this.#receivedUntilMs())
    this.#deadlines.set(device, untilMs)
    const before = device.state
    if (before === state) return
    this.order.changeState(device, state)
    for (const listener of this.#listeners) {
      try {
        listener(device.device, before, state)
      } catch (error) {
        this.#options.failed(error)
      }
    }
  }

  onState(listener: StateListener): void {
    this.#listeners.push(listener)
  }

  /** Changes the states that are due; true when more remain than one turn may do. */
  advance(): boolean {
    const receivedUntilMs = this.#receivedUntilMs()
    for (let count = 0; this.#deadlines.nextMs() <= receivedUntilMs; count++) {
      if (count === dueMax) return true
      // A reading that came since has not moved the deadline; this does.
      this.update(this.#deadlines.next() as DeviceState)
    }
    return false
  }

  /** Returns the time at which a state changes next, as far as is known; Infinity if none will. */
  nextDeadlineMs(): number {
    return this.#deadlines.nextMs()
  }

  /** Updates every state after the clock was set back. */
  async updateAll(signal: AbortSignal): Promise<void> {
    await this.each(device => this.update(device), signal)
  }

  /** Removes expired readings, and values of metrics that the device has not sent since. */
  async forgetBefore(timeUs: number, signal: AbortSignal): Promise<void> {
    await this.each(device => {
      if (device.lastUs >= timeUs) device.values.forgetBefore(timeUs)
      else if (device.lastUs !== Number.NEGATIVE_INFINITY) {
        device.clearReadings()
        this.update(device)
      }
    }, signal)
  }

  /** Removes the values of erased series. */
  async forgetSeries(erased: ReadonlySet<number>, signal: AbortSignal): Promise<void> {
    await this.each(({ values }) => values.forgetSeries(erased), signal)
  }

  /** Visits all devices, some thousands a turn. */
  async each(visit: (device: DeviceState) => void, signal: AbortSignal): Promise<void> {
    let count = 0
    for (const device of this.#devices.values()) {
      visit(device)
      if (++count % devicesPerTurn === 0) await turn(undefined, { signal })
    }
  }

  get size(): number {
    return this.#devices.size
  }

  /** Undefined for a device that is not in the registry. */
  get(number: number): DeviceState | undefined {
    return this.#devices.get(number)
  }

  /** A device that was found before a turn may have been removed meanwhile. */
  has(device: DeviceState): boolean {
    return this.#devices.get(device.device.number) === device
  }
}
