/**
 * The state of all devices in memory. It is updated by the registry, by durable readings, by data loaded from QuestDB
 * and by time, so questions about it read no readings. A device takes some 570 bytes with its texts.
 */

import { setImmediate as turn } from 'node:timers/promises'
import { bug } from '../../store/limits/bug.ts'
import { Columns, type LiveColumns, metricCount } from './columns.ts'
import { CustomValues } from './custom-values.ts'
import { Deadlines } from './deadlines.ts'
import { countValue } from './hour-means.ts'
import { countReading, hourUs, rescaleCounts } from './hours.ts'
import { noteInterval } from './interval-watch.ts'
import { isSilent, kindAt, type LiveCadence, type LiveState, liveStates, stateAt, stateByAge } from './live-state.ts'
import { NameOrder } from './name-order.ts'
import { Slots } from './slots.ts'
import type { StoredCustom } from './stored-custom.ts'
import { UnknownDevices } from './unknown-devices.ts'

export interface LiveDevice {
  readonly number: number
  readonly symbol: string
  readonly name: string
  readonly location_short: string
  readonly log_switch: boolean
  readonly expected_interval_seconds: number | null
  readonly tags: readonly string[]
  /** In degrees; null for a device without a known place. */
  readonly latitude: number | null
  readonly longitude: number | null
}

/** Readings in the order in which they became durable; see `ingest.onStored`. */
export interface StoredReadings extends StoredCustom {
  next(): boolean
  /** The device's number. */
  readonly series: number
  /** Epoch microseconds. */
  readonly timeUs: number
  /** Value of the metric in this column; NaN where missing. */
  value(column: number): number
}

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
const updatedPerTurn = 2000
const forgottenPerTurn = 10_000

export class LiveFleet {
  readonly #options: LiveFleetOptions
  readonly #columns = new Columns()
  readonly custom = new CustomValues()
  readonly #slots = new Slots()
  readonly #deadlines = new Deadlines()
  readonly #devices: (LiveDevice | undefined)[] = []
  /** Searched texts, in lower case. */
  readonly #texts: (string | undefined)[] = []
  readonly #listeners: StateListener[] = []
  readonly #unknown = new UnknownDevices()
  /** Slots of the current readings whose state may have changed. */
  readonly #touched = new Set<number>()
  readonly order = new NameOrder(slot => this.#columns.get().states[slot] as number)

  constructor(options: LiveFleetOptions) {
    this.#options = options
  }

  /** Fills the whole registry, in the order of names, before any other call. */
  fill(devices: readonly LiveDevice[]): void {
    const slots = devices.map(device => this.#add(device))
    this.order.fill(slots, slot => (this.#devices[slot] as LiveDevice).name)
  }

  deviceChanged(device: LiveDevice): void {
    const slot = this.#slots.of(device.number)
    if (slot < 0) {
      const added = this.#add(device)
      this.order.add(added, device.name)
      // Its earlier readings have reached QuestDB, or will.
      if (this.#unknown.take(device.number)) this.#want(added)
      return
    }
    this.#devices[slot] = device
    this.#texts[slot] = textOf(device)
    if (this.order.nameOf(slot) !== device.name) {
      this.order.remove(slot)
      this.order.add(slot, device.name)
    }
    this.#configure(slot, device)
    this.update(slot)
  }

  /** Removes the device with all its data. */
  deviceRemoved(number: number): void {
    const slot = this.#slots.of(number)
    if (slot < 0) return
    this.order.remove(slot)
    this.#deadlines.set(slot, Number.POSITIVE_INFINITY)
    this.#slots.remove(number)
    this.#devices[slot] = undefined
    this.#texts[slot] = undefined
    this.#columns.clear(slot)
    this.custom.clear(slot)
  }

  #add(device: LiveDevice): number {
    const slot = this.#slots.add(device.number)
    this.#columns.clear(slot)
    this.#columns.get().numbers[slot] = device.number
    this.#columns.get().states[slot] = device.log_switch ? stateAt.never : stateAt.off
    this.#devices[slot] = device
    this.#texts[slot] = textOf(device)
    this.#configure(slot, device)
    return slot
  }

  /** A configured interval takes precedence over any estimate. */
  #configure(slot: number, { expected_interval_seconds }: LiveDevice): void {
    const { configured } = this.#columns.get()
    if (expected_interval_seconds !== null) {
      this.#setCadence(slot, { kind: kindAt.regular, expectedMs: expected_interval_seconds * 1000, gapMs: Number.NaN })
    } else if (configured[slot] === 1) {
      this.#setCadence(slot, { kind: kindAt.unknown, expectedMs: Number.NaN, gapMs: Number.NaN })
      this.#want(slot)
    }
    configured[slot] = expected_interval_seconds === null ? 0 : 1
  }

  /**
   * Takes the readings of one group. States change behind the last of them, because a replayed history has many
   * readings of a device in a group.
   */
  take(readings: StoredReadings): void {
    const columns = this.#columns.get()
    const times = { nowMs: this.#options.nowMs(), receivedUntilMs: this.#receivedUntilMs() }
    while (readings.next()) {
      const slot = this.#slots.of(readings.series)
      if (slot >= 0) this.#takeOne(columns, slot, readings, times)
      else this.#unknown.add(readings.series)
    }
    for (const slot of this.#touched) this.update(slot)
    this.#touched.clear()
  }

  #receivedUntilMs(): number {
    const { nowMs, receivedUntilMs = nowMs } = this.#options
    return receivedUntilMs()
  }

  #takeOne(
    columns: LiveColumns,
    slot: number,
    readings: StoredReadings,
    { nowMs, receivedUntilMs }: { nowMs: number; receivedUntilMs: number },
  ): void {
    const { timeUs } = readings
    const presentHour = Math.floor((nowMs * 1000) / hourUs)
    const lastUs = columns.lastUs[slot] as number
    this.#takeValues(columns, slot, timeUs, readings)
    if (this.custom.take(slot, timeUs, readings)) this.#want(slot)
    const hour = Math.floor(timeUs / hourUs)
    if (hour < (columns.firstHour[slot] as number)) columns.firstHour[slot] = hour
    if (timeUs > lastUs) {
      columns.lastUs[slot] = timeUs
      if (noteInterval(columns, slot, (timeUs - lastUs) / 1000) && columns.configured[slot] === 0) this.#want(slot)
      if (hour <= presentHour + 1) this.#countInHour(columns, slot, hour, readings)
      if (mayChange(columns, slot, receivedUntilMs)) this.#touched.add(slot)
    } else if (timeUs < lastUs && hour >= presentHour - 25) {
      this.#want(slot)
    }
  }

  #countInHour(columns: LiveColumns, slot: number, hour: number, readings: StoredReadings): void {
    if (isApart(columns, slot, readings.timeUs)) {
      columns.countedUs[slot] = readings.timeUs
      countReading(columns, slot, hour)
    }
    if (countValue(columns, slot, hour, readings)) this.#want(slot)
  }

  /** An older value never replaces a newer one; of two at one time the later one counts, as in QuestDB. */
  #takeValues(columns: LiveColumns, slot: number, timeUs: number, readings: StoredReadings): void {
    const { values, valuesUs } = columns
    for (let metric = 0, at = slot * metricCount; metric < metricCount; metric++, at++) {
      const value = readings.value(metric)
      const valueUs = valuesUs[at] as number
      if (!Number.isNaN(value)) {
        if (timeUs >= valueUs) {
          values[at] = value
          valuesUs[at] = timeUs
        }
      } else if (timeUs === valueUs) {
        // A row without the value has replaced the one with it; only QuestDB knows the previous value.
        values[at] = Number.NaN
        valuesUs[at] = Number.NEGATIVE_INFINITY
        this.#want(slot)
      }
    }
  }

  /** Takes an estimated interval. A configured one stays. */
  estimated(slot: number, cadence: LiveCadence): void {
    const columns = this.#columns.get()
    if (columns.configured[slot] === 1) return
    const before = columns.expectedMs[slot] as number
    const factor = before / cadence.expectedMs
    const isRegular = columns.kinds[slot] === kindAt.regular && cadence.kind === kindAt.regular
    if (isRegular && Math.abs(factor - 1) > 0.1) rescaleCounts(columns, slot, factor)
    this.#setCadence(slot, cadence)
  }

  #setCadence(slot: number, { kind, expectedMs, gapMs }: LiveCadence): void {
    const columns = this.#columns.get()
    if (kind === kindAt.regular && !(expectedMs > 0)) throw bug(`slot ${slot} is regular, every ${expectedMs} ms`)
    columns.kinds[slot] = kind
    columns.expectedMs[slot] = expectedMs
    columns.gapMs[slot] = gapMs
  }

  update(slot: number): void {
    const columns = this.#columns.get()
    const device = this.#devices[slot]
    if (device === undefined) throw bug(`slot ${slot} has no device`)
    const lastUs = columns.lastUs[slot] as number
    if (!device.log_switch) this.#setState(slot, stateAt.off, Number.POSITIVE_INFINITY)
    else if (lastUs === Number.NEGATIVE_INFINITY) this.#setState(slot, stateAt.never, Number.POSITIVE_INFINITY)
    else {
      const { state, untilMs } = stateByAge(lastUs / 1000, this.#receivedUntilMs(), this.cadence(slot))
      this.#setState(slot, state, untilMs)
    }
  }

  #setState(slot: number, state: number, untilMs: number): void {
    this.#deadlines.set(slot, untilMs)
    const { states } = this.#columns.get()
    const before = states[slot] as number
    if (before === state) return
    this.order.changeState(slot, before, state)
    states[slot] = state
    this.#notify(this.#devices[slot] as LiveDevice, liveStates[before] as LiveState, liveStates[state] as LiveState)
  }

  #notify(device: LiveDevice, before: LiveState, now: LiveState): void {
    for (const listener of this.#listeners) {
      try {
        listener(device, before, now)
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
    for (let count = 0; count < dueMax; count++) {
      if (this.#deadlines.nextMs() > receivedUntilMs) return false
      // A reading that came since has not moved the deadline; this does.
      this.update(this.#deadlines.nextSlot())
    }
    return this.#deadlines.nextMs() <= receivedUntilMs
  }

  /** When a state changes next, as far as is known; Infinity if none will. */
  nextDeadlineMs(): number {
    return this.#deadlines.nextMs()
  }

  #want(slot: number): void {
    this.#options.wants(this.#columns.get().numbers[slot] as number)
  }

  /** Updates every state, some thousands a turn, after the clock was set back. */
  async updateAll(signal: AbortSignal): Promise<void> {
    for (let slot = 0; slot < this.#slots.end(); slot++) {
      if ((slot + 1) % updatedPerTurn === 0) await turn(undefined, { signal })
      if (this.#devices[slot] !== undefined) this.update(slot)
    }
  }

  /** Removes expired readings, some thousands of devices a turn. */
  async forgetBefore(timeUs: number, signal: AbortSignal): Promise<void> {
    for (let slot = 0; slot < this.#slots.end(); slot++) {
      if ((slot + 1) % forgottenPerTurn === 0) await turn(undefined, { signal })
      const { lastUs } = this.#columns.get()
      const last = lastUs[slot] as number
      if (this.#devices[slot] === undefined || last === Number.NEGATIVE_INFINITY) continue
      if (last >= timeUs) {
        this.#forgetValues(slot, timeUs)
        continue
      }
      this.#columns.clearReadings(slot)
      this.custom.clear(slot)
      this.update(slot)
    }
  }

  /** Removes the values of erased series, in as many turns. */
  async forgetSeries(erased: ReadonlySet<number>, signal: AbortSignal): Promise<void> {
    for (let slot = 0; slot < this.#slots.end(); slot++) {
      if ((slot + 1) % forgottenPerTurn === 0) await turn(undefined, { signal })
      this.custom.forgetSeries(slot, erased)
    }
  }

  /** Removes values of metrics that the device has not sent since. */
  #forgetValues(slot: number, beforeUs: number): void {
    const { values, valuesUs } = this.#columns.get()
    for (let at = slot * metricCount; at < (slot + 1) * metricCount; at++) {
      if ((valuesUs[at] as number) >= beforeUs) continue
      values[at] = Number.NaN
      valuesUs[at] = Number.NEGATIVE_INFINITY
    }
    this.custom.forgetBefore(slot, beforeUs)
  }

  columns(): LiveColumns {
    return this.#columns.get()
  }

  /** -1 for a device that is not in the registry. */
  slotOf(number: number): number {
    return this.#slots.of(number)
  }

  /** Slots are below this; some have no device. */
  slotsEnd(): number {
    return this.#slots.end()
  }

  device(slot: number): LiveDevice | undefined {
    return this.#devices[slot]
  }

  text(slot: number): string {
    return this.#texts[slot] as string
  }

  cadence(slot: number): LiveCadence {
    const { kinds, expectedMs, gapMs } = this.#columns.get()
    return {
      kind: kinds[slot] as number,
      expectedMs: expectedMs[slot] as number,
      gapMs: gapMs[slot] as number,
    }
  }
}

/**
 * The last reading may have changed the state: a fresh device stays fresh, and an old reading leaves a silent one
 * silent.
 */
function mayChange(
  { states, lastUs, kinds, expectedMs, gapMs }: LiveColumns,
  slot: number,
  receivedUntilMs: number,
): boolean {
  if (states[slot] !== stateAt.silent) return states[slot] !== stateAt.fresh
  const [last, kind] = [(lastUs[slot] as number) / 1000, kinds[slot] as number]
  return !isSilent(last, receivedUntilMs, kind, expectedMs[slot] as number, gapMs[slot] as number)
}

/** For a regular device, a reading within half an interval of the one before does not count, as in the statistics. */
function isApart(columns: LiveColumns, slot: number, timeUs: number): boolean {
  if (columns.kinds[slot] !== kindAt.regular) return true
  const apartUs = timeUs - (columns.countedUs[slot] as number)
  return apartUs >= 500 * (columns.expectedMs[slot] as number)
}

function textOf({ name, location_short }: LiveDevice): string {
  return `${name}\n${location_short}`.normalize('NFC').toLowerCase()
}
