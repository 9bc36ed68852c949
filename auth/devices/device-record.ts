/** A device in memory: its settings, and its credential, which is not exposed. */

import { bug } from '../../store/limits/bug.ts'
import type { SeenRecord } from '../last-seen.ts'
import { copySettings, type Device, type DeviceDetails, type DeviceSettings, unsetSettings } from './device.ts'
import { digestEquals, packDigest, unpackDigest } from './password.ts'

/** A record of PostgreSQL; times in epoch milliseconds. */
export interface DeviceRow extends DeviceSettings {
  number: number
  name: string
  symbol: string
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

/** The base class gives all records one shape: a hundred thousand have their fields in one order. */
const Settings = class {
  constructor() {
    copySettings(unsetSettings, this)
  }
} as new () => DeviceSettings

/** A class saves memory and time: a hundred thousand records share one shape and a method that each reading calls. */
export class DeviceRecord extends Settings implements Device, SeenRecord {
  readonly number: number
  readonly symbol: string
  name = ''
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
    super()
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
    copySettings(row, this)
    // Shared by the many devices without tags.
    if (row.tags.length === 0) this.tags = unsetSettings.tags
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
    const { number, name, symbol, lastSeenMs } = this
    const rotating = this.#next !== null && nowMs < this.#graceEndsMs
    return {
      number,
      name,
      symbol,
      ...copySettings(this, {}),
      created_at: new Date(this.#createdMs).toISOString(),
      last_seen: lastSeenMs === 0 ? null : new Date(lastSeenMs).toISOString(),
      credential: rotating ? 'rotating' : 'current',
      old_password_until: rotating ? new Date(this.#graceEndsMs).toISOString() : null,
    }
  }
}
