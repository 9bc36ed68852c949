/** A device in memory: its settings, and its credential, which is not exposed. */

import { bug } from '../../store/limits/bug.ts'
import type { SeenRecord } from '../last-seen.ts'
import type { Device, DeviceDetails, QualityLimits } from './device.ts'
import type { BatteryType, Profile } from './device-profile.ts'
import { digestEquals, packDigest, unpackDigest } from './password.ts'

/** A record of PostgreSQL; times in epoch milliseconds. */
export interface DeviceRow {
  number: number
  name: string
  symbol: string
  location_short: string
  location_desc: string
  log_switch: boolean
  battery: boolean
  altitude_m: number | null
  latitude: number | null
  longitude: number | null
  expected_interval_seconds: number | null
  owner: number | null
  quality_limits: QualityLimits | null
  metrics: string[] | null
  tags: string[]
  profile: Profile
  battery_type: BatteryType | null
  battery_cells: number | null
  createdMs: number
  lastSeenMs: number | null
  current: Buffer
  next: Buffer | null
  nextUsed: boolean
  graceEndsMs: number | null
  authSeq: number
  removed: boolean
}

export const numbersOf = (rows: readonly Pick<DeviceRow, 'number'>[]): number[] => rows.map(({ number }) => number)

/** Shared by the many devices without tags. */
const noTags: string[] = []

/** A class saves memory and time: a hundred thousand records share one shape and a method that each reading calls. */
export class DeviceRecord implements Device, SeenRecord {
  readonly number: number
  readonly symbol: string
  name = ''
  location_short = ''
  location_desc = ''
  log_switch = true
  battery = false
  altitude_m: number | null = null
  latitude: number | null = null
  longitude: number | null = null
  expected_interval_seconds: number | null = null
  owner: number | null = null
  quality_limits: QualityLimits | null = null
  metrics: string[] | null = null
  tags = noTags
  profile: Profile = 'none'
  battery_type: BatteryType | null = null
  battery_cells: number | null = null
  /** 0 for a device that has never been seen. */
  lastSeenMs = 0
  seenUnsaved = false
  removed = false
  suspended = false
  authSeq = 0
  readonly #createdMs: number
  #current: string
  #next: string | null = null
  #graceEndsMs = 0
  #nextUsed = false

  constructor(row: DeviceRow) {
    this.number = row.number
    this.symbol = row.symbol
    this.#createdMs = row.createdMs
    this.#current = packDigest(row.current)
    this.apply(row)
  }

  /** Applies a newer state of the same record. */
  apply(row: DeviceRow): void {
    if (row.number !== this.number || row.authSeq < this.authSeq) {
      throw bug(`device ${this.number} of ${this.authSeq} becomes ${row.number} of ${row.authSeq}`)
    }
    this.name = row.name
    this.location_short = row.location_short
    this.location_desc = row.location_desc
    this.log_switch = row.log_switch
    this.battery = row.battery
    this.altitude_m = row.altitude_m
    this.latitude = row.latitude
    this.longitude = row.longitude
    this.expected_interval_seconds = row.expected_interval_seconds
    this.owner = row.owner
    this.quality_limits = row.quality_limits
    this.metrics = row.metrics
    this.tags = row.tags.length === 0 ? noTags : row.tags
    this.profile = row.profile
    this.battery_type = row.battery_type
    this.battery_cells = row.battery_cells
    this.removed = row.removed
    this.authSeq = row.authSeq
    this.seenAt(row.lastSeenMs ?? 0)
    const next = row.next === null ? null : packDigest(row.next)
    this.#nextUsed = row.nextUsed || (this.#nextUsed && next === this.#next)
    this.#current = packDigest(row.current)
    this.#next = next
    this.#graceEndsMs = row.graceEndsMs ?? 0
  }

  /** PostgreSQL's time may be older than the unsaved one. */
  seenAt(timeMs: number): void {
    if (timeMs > this.lastSeenMs) this.lastSeenMs = timeMs
  }

  /** `first`: this process has seen the newer of two passwords for the first time. */
  accepts(digest: Buffer, nowMs: number): boolean | 'first' {
    const next = this.#next
    if (next === null) return digestEquals(digest, this.#current)
    if (digestEquals(digest, next)) {
      if (this.#nextUsed) return true
      this.#nextUsed = true
      return 'first'
    }
    return nowMs < this.#graceEndsMs && digestEquals(digest, this.#current)
  }

  /** The newer of two passwords, if the device has used it. */
  usedNext(): Buffer | null {
    return this.#next !== null && this.#nextUsed ? unpackDigest(this.#next) : null
  }

  details(nowMs: number): DeviceDetails {
    const { number, name, symbol, location_short, location_desc, log_switch, battery } = this
    const { altitude_m, expected_interval_seconds, owner, quality_limits, metrics, tags, lastSeenMs } = this
    const { profile, battery_type, battery_cells, latitude, longitude } = this
    const rotating = this.#next !== null && nowMs < this.#graceEndsMs
    return {
      number,
      name,
      symbol,
      location_short,
      location_desc,
      log_switch,
      battery,
      altitude_m,
      latitude,
      longitude,
      expected_interval_seconds,
      owner,
      quality_limits,
      metrics,
      tags,
      profile,
      battery_type,
      battery_cells,
      created_at: new Date(this.#createdMs).toISOString(),
      last_seen: lastSeenMs === 0 ? null : new Date(lastSeenMs).toISOString(),
      credential: rotating ? 'rotating' : 'current',
      old_password_until: rotating ? new Date(this.#graceEndsMs).toISOString() : null,
    }
  }
}
