/**
 * Rejected data of every way in: counted, logged, and the latest kept in memory. A way in without answers, such as MQTT 3.1.1,
 * reports its rejections nowhere else.
 */

import type { Log } from '../../store/log.ts'
import type { Reject } from '../formats/reject.ts'
import type { BodySource, RejectedPart, Rejection, RejectionEntry } from './rejection.ts'
import { type RejectionQuery, RejectionRing } from './rejection-ring.ts'
import { type UnknownDevice, UnknownDevices } from './unknown-devices.ts'

interface RejectionsOptions {
  nowMs: () => number
  senderLog: SenderLog
}

/** The rejects of a body with many readings or points. */
export interface RejectedLines {
  rejected: number
  /** Some of them, with their reasons. */
  rejects: readonly (Pick<Reject, 'device' | 'sn' | 'reason'> & Partial<Pick<Reject, 'code'>>)[]
}

export interface Rejections {
  /** `about` adds fields to the log line. */
  add(rejection: Rejection, about?: object): void
  /** The cost depends on the listed rejects only. `part`: for lines that are stored. */
  addLines(source: BodySource, lines: RejectedLines, part?: RejectedPart): void
  list(query: RejectionQuery): { entries: RejectionEntry[]; hasMore: boolean }
  /** Devices that are not registered and send in formats of sensors, the latest first. */
  unknownDevices(isRegistered: (name: string) => boolean): UnknownDevice[]
  /** Drops the entries about this device or station. The counts stay. */
  forget(device: string): void
  /** Returns the start of counting, and the number of readings and requests that were rejected as a whole. */
  status(): { sinceMs: number; rejected: number }
}

/** Limit of a body's listed rejects that differ. The others are counted in one entry. */
const listedMax = 1000
const entriesPerBodyMax = 100
const unlistedReason = 'more lines of a body, whose reasons are not kept'

export function createRejections({ nowMs, senderLog }: RejectionsOptions): Rejections {
  const ring = new RejectionRing()
  const unknownDevices = new UnknownDevices()
  const sinceMs = nowMs()
  let rejected = 0

  function add(rejection: Rejection, count: number, about?: object): void {
    const { part, unregistered } = rejection
    if (unregistered !== undefined) unknownDevices.add(rejection, unregistered, nowMs())
    if (part === undefined) rejected += count
    const { way, sender, device, reason } = ring.add(rejection, count, nowMs())
    // A field that is not a metric, or lacks a unit, is not a fault of the sensor, and arrives with each reading.
    if (part === 'field') return
    const text = part === undefined ? 'reading rejected' : 'value rejected'
    senderLog(sender, 'warn', { way, sender, device, reason, count, ...about }, text)
  }

  return {
    add: (rejection, about) => add(rejection, 1, about),
    addLines(source, lines, part) {
      const entries = entriesOf(source, lines)
      let left = lines.rejected
      for (const { rejection, count } of entries) {
        add({ ...rejection, part }, count)
        left -= count
      }
      if (left > 0) add({ ...source, unregistered: undefined, reason: unlistedReason, part }, left)
    },
    list: query => ring.list(query),
    unknownDevices: isRegistered => unknownDevices.list(isRegistered),
    forget(device) {
      ring.forget(device)
      unknownDevices.forget(device)
    },
    status: () => ({ sinceMs, rejected }),
  }
}

interface Counted {
  rejection: Rejection
  count: number
}

function entriesOf({ unregistered, ...source }: BodySource, { rejects }: RejectedLines): Iterable<Counted> {
  const entries = new Map<string, Counted>()
  for (const { device: deviceName, sn, code, reason } of rejects.slice(0, listedMax)) {
    const device = deviceName ?? sn ?? source.device
    const key = `${device}\n${reason}`
    const entry = entries.get(key)
    if (entry !== undefined) entry.count++
    else if (entries.size < entriesPerBodyMax) {
      const isUnregistered = code === 'DEVICE_UNKNOWN' || code === 'TOO_MANY_DEVICES'
      const reading = isUnregistered && unregistered !== undefined ? { ...unregistered, fields: {} } : undefined
      entries.set(key, { rejection: { ...source, device, reason, unregistered: reading }, count: 1 })
    }
  }
  return entries.values()
}

/** Logs a sender at most once a minute. */
export type SenderLog = (sender: string, level: 'warn' | 'error', fields: object, text: string) => void

const everyMs = 60_000
/** Limit of lines a minute. The metrics count the other senders. */
const sendersMax = 1000

/** Logs the faults of senders for the operator. The sender itself may get no answer, or have no reader for it. */
export function createSenderLog(log: Pick<Log, 'warn' | 'error'>, nowMs: () => number): SenderLog {
  /** Entries have the order of time. */
  const loggedAtMs = new Map<string, number>()
  return (sender, level, fields, text) => {
    const now = nowMs()
    for (const [logged, atMs] of loggedAtMs) {
      if (now - atMs < everyMs) break
      loggedAtMs.delete(logged)
    }
    if (loggedAtMs.has(sender) || loggedAtMs.size >= sendersMax) return
    loggedAtMs.set(sender, now)
    log[level](fields, text)
  }
}
