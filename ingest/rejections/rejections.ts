/**
 * What was not taken, by every way in: counted, the latest kept in memory, and told in the log. A way in without an answer,
 * such as MQTT 3.1.1, has no other place where anybody would learn it.
 */

import type { Reject } from '../formats/reject.ts'
import type { RejectedPart, Rejection, RejectionEntry, RejectionSource } from './rejection.ts'
import { type RejectionQuery, RejectionRing } from './rejection-ring.ts'
import type { SenderLog } from './sender-log.ts'

export interface RejectionsOptions {
  nowMs: () => number
  senderLog: SenderLog
}

/** Of a body with many readings or points. */
export interface RejectedLines {
  rejected: number
  /** Some of them, with their reasons. */
  rejects: readonly Pick<Reject, 'device' | 'sn' | 'reason'>[]
}

export interface Rejections {
  /** `about` says more in the log. */
  add(rejection: Rejection, about?: object): void
  /** Costs no more than the rejects that are listed, whatever their number. `part`: of lines that are stored. */
  addLines(source: RejectionSource, lines: RejectedLines, part?: RejectedPart): void
  list(query: RejectionQuery): { entries: RejectionEntry[]; hasMore: boolean }
  /** Keeps no entry about this device or station any more; the counts stay. */
  forget(device: string): void
  /** Since when it is counted and kept, and how many readings and requests were rejected as a whole. */
  status(): { sinceMs: number; rejected: number }
}

/** Of the listed rejects of a body, and different ones among them; the others are counted in one entry. */
const listedMax = 1000
const entriesPerBodyMax = 100
const unlistedReason = 'more lines of a body, whose reasons are not kept'

export function createRejections({ nowMs, senderLog }: RejectionsOptions): Rejections {
  const ring = new RejectionRing()
  const sinceMs = nowMs()
  let rejected = 0

  function add(rejection: Rejection, count: number, about?: object): void {
    const { part } = rejection
    if (part === undefined) rejected += count
    const { way, sender, device, reason } = ring.add(rejection, count, nowMs())
    // A field that is not a metric, or has no unit, is no fault of the sensor, and comes with each reading.
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
      if (left > 0) add({ ...source, reason: unlistedReason, part }, left)
    },
    list: query => ring.list(query),
    forget: device => ring.forget(device),
    status: () => ({ sinceMs, rejected }),
  }
}

interface Counted {
  rejection: Rejection
  count: number
}

function entriesOf(source: RejectionSource, { rejects }: RejectedLines): Iterable<Counted> {
  const entries = new Map<string, Counted>()
  for (const { device: deviceName, sn, reason } of rejects.slice(0, listedMax)) {
    const device = deviceName ?? sn ?? source.device
    const key = `${device}\n${reason}`
    const entry = entries.get(key)
    if (entry !== undefined) entry.count++
    else if (entries.size < entriesPerBodyMax) entries.set(key, { rejection: { ...source, device, reason }, count: 1 })
  }
  return entries.values()
}
