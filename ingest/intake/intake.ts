/** Accepts one reading from an authorized writer: the same checks, limits and records for every protocol. */

import { type Device, nameFault } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import { type WriteRefusal, type Writer, writeRefusals } from '../../auth/writers.ts'
import { composed } from '../../store/plain-text.ts'
import { type Fields, ignoredNames, roleOf, type StoredFields } from '../field-names.ts'
import type { Ingest } from '../ingest.ts'
import type { Outcome } from '../journal/outcome.ts'
import { leftOutReason, type Reading, type ReadingCheck } from '../reading.ts'
import type { RejectedPart } from '../rejections/rejection.ts'
import type { WholeReading } from '../whole-reading.ts'
import {
  createCustomMetrics,
  createPrepareReading,
  type RegistryOfMetrics,
  type Unprepared,
} from './prepare-reading.ts'
import type { ReadingMeter } from './reading-meter.ts'
import type { Refusal } from './refusal.ts'

export interface IntakeOptions {
  devices: Pick<Devices, 'seen'>
  ingest: Pick<Ingest, 'accept'>
  /** Must collect custom fields. */
  check: ReadingCheck
  metrics: RegistryOfMetrics
  meter: Pick<ReadingMeter, 'stored'>
  nowMs: () => number
  /** True when the device may send one more reading now, which it counts. */
  isWithinRate: (device: Device) => boolean
  /** Accepts a reading with an idempotency key. */
  acceptOnce: (reading: KeyedReading) => Promise<Outcome | Refusal>
}

/** The idempotency key of a request. */
export interface RequestKey {
  key: string
  /** Checks the credential again when the key is claimed. */
  renewed: () => Promise<Writer | Refusal>
}

export interface KeyedReading extends RequestKey {
  writer: Writer
  device: Device
  reading: Reading
  /** The parsed body. */
  body: Fields
}

/** A reading on disk. */
export interface StoredReading {
  /** Names of fields that are not stored. Undefined without any. */
  readonly ignored: readonly string[] | undefined
  /** Reasons for the list of rejections. */
  readonly leftOut: readonly LeftOut[]
}

export interface LeftOut {
  readonly part: RejectedPart
  readonly reason: string
}

export interface Intake {
  /**
   * Creates the device and metrics that a valid reading needs and the registry lacks, so that `take` finds them in memory. The
   * writer needs the permission to create the device. Undefined for most readings, which lack nothing.
   */
  prepare(writer: Writer, body: unknown): Promise<Refusal | undefined> | undefined
  /**
   * Accepts the parsed body of a message. A promise means that the reading is in the journal's next group. It resolves
   * when the reading is on disk. With an idempotency key the promise does not imply a group.
   */
  take(writer: Writer, body: unknown, key?: RequestKey): Refusal | Promise<Refusal | StoredReading>
}

const batchDetail = 'one reading a request; batches go to POST /api/log/batch'

const refusals: Record<WriteRefusal, Refusal> = {
  DEVICE_UNKNOWN: { reason: 'unknown_device', code: 'DEVICE_UNKNOWN' },
  DEVICE_MISMATCH: { reason: 'mismatch', code: 'DEVICE_MISMATCH' },
  DEVICE_FORBIDDEN: {
    reason: 'mismatch',
    code: 'DEVICE_MISMATCH',
    members: { detail: writeRefusals.DEVICE_FORBIDDEN },
  },
  NAME_INVALID: { reason: 'invalid_name', code: 'PAYLOAD_INVALID' },
  TOO_MANY_DEVICES: { reason: 'too_many_devices', code: 'TOO_MANY_OF_OWNER' },
  DEVICE_SUSPENDED: { reason: 'suspended', code: 'DEVICE_SUSPENDED' },
  LOGGING_DISABLED: { reason: 'disabled', code: 'LOGGING_DISABLED' },
}

/** The refusal returned to a sender that may not write to this device. */
export function refusalOfWrite(code: WriteRefusal, writer: Writer, deviceName: string): Refusal {
  // The credential's device was removed while the body arrived.
  if (code === 'DEVICE_UNKNOWN' && writer.device !== undefined) return { reason: 'unauthorized', code: 'UNAUTHORIZED' }
  if (code !== 'NAME_INVALID') return refusals[code]
  return { ...refusals[code], members: { errors: { device: nameFault(composed(deviceName)) } } }
}

export const databaseAway: Refusal = { reason: 'database_away', code: 'DATABASE_AWAY' }

export const outcomeRefusals: Record<Exclude<Outcome, 'stored'>, Refusal> = {
  full: { reason: 'full', code: 'STORAGE_FULL' },
  closing: { reason: 'closing', code: 'CLOSING' },
  unknown: { reason: 'unknown', code: 'STORAGE_FAILED' },
}

const nothingIgnored: StoredReading = { ignored: undefined, leftOut: [] }
const noFields: ReadonlySet<string> = new Set()

export function createIntake(options: IntakeOptions): Intake {
  const { devices, ingest, check, meter, nowMs, isWithinRate, acceptOnce } = options
  const customMetrics = createCustomMetrics(options.metrics)
  const prepareReading = createPrepareReading({ check, nowMs, customMetrics })

  /** Returns the device that may log this reading, or a refusal. */
  function deviceOf(writer: Writer, { device: name }: Fields): Device | Refusal {
    if (typeof name !== 'string')
      return invalidReading({ device: name === undefined ? 'is required' : 'must be a string' })
    const device = writer.find(name)
    if (typeof device === 'string') return refusalOfWrite(device, writer, name)
    return isWithinRate(device) ? device : { reason: 'throttled', code: 'TOO_MANY_READINGS' }
  }

  function read(device: Device, fields: Fields): WholeReading {
    const checked = check(fields, nowMs(), device.metrics)
    // Nearly all readings have only the columns.
    if (checked.custom !== undefined || device.metrics !== null) return customMetrics.whole(device, fields, checked)
    if (!checked.ok) return checked
    const { reading, aliases, outOfRange } = checked
    return { ok: true, reading, stored: aliases.length === 0 ? noFields : new Set(aliases), outOfRange }
  }

  async function settle(
    device: Device,
    accepted: Promise<Outcome | Refusal>,
    stored: StoredReading,
    startedMs: number,
  ): Promise<Refusal | StoredReading> {
    const outcome = await accepted
    if (typeof outcome !== 'string') return outcome
    if (outcome !== 'stored') return outcomeRefusals[outcome]
    devices.seen(device, nowMs())
    meter.stored(performance.now() - startedMs)
    return stored
  }

  return {
    prepare(writer, body) {
      return isFields(body) ? prepareReading(writer, body)?.then(refusalOfUnprepared) : undefined
    },
    take(writer, body, key) {
      const startedMs = performance.now()
      if (!isFields(body)) return notFields(body)
      const device = deviceOf(writer, body)
      if ('reason' in device) return device
      const whole = read(device, body)
      if (!whole.ok) return invalidReading(whole.errors)
      const { reading } = whole
      const ignored = ignoredNames(body, whole, device.metrics)
      const accepted =
        key === undefined ? ingest.accept(device, reading) : acceptOnce({ ...key, writer, device, reading, body })
      return settle(device, accepted, ignored === undefined ? nothingIgnored : storedWithout(ignored, whole), startedMs)
    },
  }
}

function storedWithout(ignored: readonly string[], { outOfRange }: StoredFields): StoredReading {
  const leftOut = timesLeftOut(ignored)
  if (outOfRange !== undefined) leftOut.push({ part: 'value', reason: leftOutReason(outOfRange) })
  return { ignored, leftOut }
}

/** Fields with times that are neither the reading's time nor a metric. */
export function timesLeftOut(ignored: readonly string[]): LeftOut[] {
  return ignored.flatMap(name => {
    const role = roleOf(name)
    if (role === 'record time') return [{ part: 'field', reason: `${name} is a time, not a metric` }]
    if (role !== 'reading time') return []
    return [{ part: 'field', reason: `${name} is not the time of the reading: ${timeFieldReason}` }]
  })
}

const timeFieldReason = 'it is not a time with a zone since 2000, or the reading has a timestamp'

function refusalOfUnprepared(unprepared: Unprepared | undefined): Refusal | undefined {
  if (unprepared === undefined) return undefined
  return unprepared === 'later' ? databaseAway : invalidReading(unprepared)
}

export function invalidReading(errors: Record<string, string>): Refusal {
  return { reason: 'invalid', code: 'PAYLOAD_INVALID', members: { errors } }
}

function notFields(body: unknown): Refusal {
  return { reason: 'invalid', code: 'JSON_INVALID', ...(Array.isArray(body) && { members: { detail: batchDetail } }) }
}

function isFields(body: unknown): body is Fields {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
}
