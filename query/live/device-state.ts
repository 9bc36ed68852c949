/** The state of a device in memory: its entry in the registry, and the figures of its readings. */

import { ageLimits, ageSecondsOf, lateSeconds } from '../../analytics/reliability/freshness.ts'
import { bug } from '../../store/limits/bug.ts'
import type { Timed } from './deadlines.ts'
import { DeviceHours, hourMs } from './device-hours.ts'
import { LatestValues } from './latest-values.ts'
import { type LiveCadence, type LiveState, type StateUntil, stateByAge } from './live-state.ts'

export interface LiveDevice {
  readonly number: number
  readonly symbol: string
  readonly name: string
  readonly location_short: string
  readonly log_switch: boolean
  readonly expected_interval_seconds: number | null
  readonly tags: readonly string[]
  /** Degrees; null for a device without a known place. */
  readonly latitude: number | null
  readonly longitude: number | null
}

/** The measures of a device's silence, for alerts. */
export interface DeviceSilence {
  /** Time of the newest reading, epoch milliseconds; NaN without one. It may be ahead of our clock. */
  readonly lastMs: number
  /** Ages up to which the device counts as late, as expected, and as stale. */
  readonly lateSeconds: number
  readonly freshSeconds: number
  readonly staleSeconds: number
  /** NaN for an irregular device. */
  readonly expectedMs: number
  readonly isOff: boolean
}

const unknownCadence: LiveCadence = { kind: 'unknown', expectedMs: null, gapMs: null }
/** Intervals of a block. The statistics use the same length to find changes of the interval. */
const blockIntervals = 20
const singleMin = 2
const farMax = 2
const nearShare = 0.1
/** Three intervals suffice for a first estimate. */
const firstReadings = 4

/** Neighbours in the order of names; see fleet-order.ts. */
export interface Block {
  readonly devices: DeviceState[]
  readonly counts: Record<LiveState, number>
}

export class DeviceState implements Timed {
  #device: LiveDevice
  /** Searched text, in lower case. */
  text: string
  state: LiveState
  cadence: LiveCadence
  /** Epoch microseconds of the last reading; -Infinity without one. */
  lastUs = Number.NEGATIVE_INFINITY
  /** The last reading that counts in its hour. */
  #countedUs = Number.NEGATIVE_INFINITY
  values = new LatestValues()
  hours = new DeviceHours()
  /** Intervals of the present block: all, single ones, and ones that are not near a multiple of the expected interval. */
  #intervals = 0
  #singles = 0
  #far = 0
  /** Time at which the state changes without a reading. */
  dueMs = Number.POSITIVE_INFINITY
  heapPlace = -1
  /** QuestDB is not queried again before. */
  notBeforeMs = 0
  /** Its block in the order of names; undefined while it is in none. */
  block: Block | undefined

  constructor(device: LiveDevice) {
    this.#device = device
    this.text = textOf(device)
    this.state = device.log_switch ? 'never' : 'off'
    this.cadence = configuredCadence(device) ?? unknownCadence
  }

  get device(): LiveDevice {
    return this.#device
  }

  /** Takes a change of the registry. True when the interval has to be estimated, as it is not configured any more. */
  configure(device: LiveDevice): boolean {
    const { isConfigured } = this
    this.#device = device
    this.text = textOf(device)
    if (!isConfigured && !this.isConfigured) return false
    this.cadence = configuredCadence(device) ?? unknownCadence
    return !this.isConfigured
  }

  /** A configured interval takes precedence over any estimate. */
  get isConfigured(): boolean {
    return this.#device.expected_interval_seconds !== null
  }

  /** Takes an estimated interval. */
  estimated(cadence: LiveCadence): void {
    const { number } = this.#device
    if (cadence.kind === 'regular' && !(Number(cadence.expectedMs) > 0))
      throw bug(`device ${number} is regular, every ${cadence.expectedMs} ms`)
    if (this.isConfigured) return
    const factor = Number(this.cadence.expectedMs) / Number(cadence.expectedMs)
    const isRegular = this.cadence.kind === 'regular' && cadence.kind === 'regular'
    if (isRegular && Math.abs(factor - 1) > 0.1) this.hours.rescale(factor)
    this.cadence = cadence
  }

  /** The state by the age of the last reading. */
  stateAt(nowMs: number): StateUntil {
    const untilMs = Number.POSITIVE_INFINITY
    if (!this.#device.log_switch) return { state: 'off', untilMs }
    if (this.lastUs === Number.NEGATIVE_INFINITY) return { state: 'never', untilMs }
    return stateByAge(this.lastUs / 1000, nowMs, this.cadence)
  }

  /**
   * The last reading may have changed the state: a fresh device stays fresh, and an old reading leaves a silent one
   * silent.
   */
  mayChange(nowMs: number): boolean {
    if (this.state !== 'silent') return this.state !== 'fresh'
    const { kind, expectedMs, gapMs } = this.cadence
    return ageSecondsOf(this.lastUs / 1000, nowMs) <= lateSeconds(kind, expectedMs, gapMs)
  }

  /** For a regular device, a reading within half an interval of the one before does not count, as in the statistics. */
  countReading(timeUs: number, hour: number): void {
    const { kind, expectedMs } = this.cadence
    if (kind === 'regular' && timeUs - this.#countedUs < 500 * (expectedMs as number)) return
    this.#countedUs = timeUs
    this.hours.count(hour)
  }

  /** Takes the time of a reading from QuestDB. */
  mergeTime(timeUs: number): void {
    if (timeUs > this.lastUs) this.lastUs = timeUs
    if (timeUs > this.#countedUs) this.#countedUs = timeUs
  }

  clearReadings(): void {
    this.lastUs = Number.NEGATIVE_INFINITY
    this.#countedUs = Number.NEGATIVE_INFINITY
    this.values = new LatestValues()
    this.hours = new DeviceHours()
    this.#beginBlock()
  }

  /**
   * Takes the interval before a reading that came in the order of time, Infinity for the first one. True when the
   * expected interval should be estimated again: after a block with few single intervals or with many that are not
   * multiples of one.
   */
  noteInterval(intervalMs: number): boolean {
    const { kind, expectedMs } = this.cadence
    this.#intervals++
    if (kind === 'regular') {
      const multiple = intervalMs / (expectedMs as number)
      const nearest = Math.round(multiple)
      if (nearest === 1) this.#singles++
      if (nearest === 0 || !(Math.abs(multiple - nearest) <= nearShare)) this.#far++
    }
    if (this.#intervals < (kind === 'unknown' ? firstReadings : blockIntervals)) return false
    const isAsExpected = kind === 'regular' && this.#singles >= singleMin && this.#far <= farMax
    this.#beginBlock()
    return !isAsExpected && !this.isConfigured
  }

  #beginBlock(): void {
    this.#intervals = 0
    this.#singles = 0
    this.#far = 0
  }

  silence(): DeviceSilence {
    const { late, fresh, stale } = ageLimits(this.cadence)
    const { kind, expectedMs } = this.cadence
    return {
      lastMs: this.lastUs === Number.NEGATIVE_INFINITY ? Number.NaN : this.lastUs / 1000,
      lateSeconds: late,
      freshSeconds: fresh,
      staleSeconds: stale,
      expectedMs: kind === 'regular' ? (expectedMs as number) : Number.NaN,
      isOff: !this.#device.log_switch,
    }
  }

  /** Share of the expected readings in the full hour that began then; NaN where unknown. */
  hourShare(hourBeginMs: number): number {
    return this.hours.share(Math.floor(hourBeginMs / hourMs), this.cadence)
  }
}

function configuredCadence({ number, expected_interval_seconds: seconds }: LiveDevice): LiveCadence | undefined {
  if (seconds === null) return undefined
  if (!(seconds > 0)) throw bug(`device ${number} is configured for every ${seconds} s`)
  return { kind: 'regular', expectedMs: seconds * 1000, gapMs: null }
}

function textOf({ name, location_short }: LiveDevice): string {
  return `${name}\n${location_short}`.normalize('NFC').toLowerCase()
}
