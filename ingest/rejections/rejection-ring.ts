/**
 * The latest rejections, in bounded memory. Equal way, sender, device and reason form one entry with a count. When the ring is
 * full, the oldest entry of the sender with the most entries is dropped, so that a flooding sender displaces only its own. All
 * senders without a valid credential count as one: they may have any number of addresses.
 */

import { bug } from '../../store/limits/bug.ts'
import { boundedText } from './bounded-text.ts'
import { deviceSender, type Rejection, type RejectionEntry, type RejectionWay } from './rejection.ts'

export interface RejectionQuery {
  /** Returns entries before this id. */
  before?: number | undefined
  limit: number
  device?: string | undefined
  way?: RejectionWay | undefined
}

interface Kept extends RejectionEntry {
  key: string
  share: string
}

export const entriesMax = 1000
const deviceLengthMax = 128
const senderLengthMax = 160
const reasonLengthMax = 256
const shareOfUnknown = ''

export class RejectionRing {
  readonly #max: number
  /** Keys are ids, from the oldest to the latest. */
  readonly #entries = new Map<number, Kept>()
  readonly #byKey = new Map<string, Kept>()
  /** The ids of each sender's entries, oldest first. */
  readonly #shares = new Map<string, Set<number>>()
  #lastId = 0

  constructor(max = entriesMax) {
    this.#max = max
  }

  get size(): number {
    return this.#entries.size
  }

  add(rejection: Rejection, count: number, nowMs: number): RejectionEntry {
    const fresh = this.#entryOf(rejection, count, nowMs)
    const known = this.#byKey.get(fresh.key)
    if (known === undefined) {
      this.#keep(fresh)
      if (this.#entries.size > this.#max) this.#drop(this.#oldestOfLargestShare())
      const [entries, keys] = [this.#entries.size, this.#byKey.size]
      if (entries !== keys || entries > this.#max) throw bug(`${entries} of ${this.#max} rejections have ${keys} keys`)
      return fresh
    }
    this.#drop(known)
    const folded = { ...fresh, count: known.count + count, firstMs: known.firstMs }
    this.#keep(folded)
    return folded
  }

  /** Newest first, and whether more exist. */
  list({ before = Number.POSITIVE_INFINITY, limit, device, way }: RejectionQuery): {
    entries: RejectionEntry[]
    hasMore: boolean
  } {
    const name = device === undefined ? undefined : composedDevice(device)
    const found = [...this.#entries.values()].filter(entry => {
      if (entry.id >= before || (way !== undefined && entry.way !== way)) return false
      return name === undefined || (entry.device !== undefined && composedDevice(entry.device) === name)
    })
    const entries = found
      .slice(-limit)
      .reverse()
      .map(({ key: _key, share: _share, ...entry }) => entry)
    return { entries, hasMore: found.length > limit }
  }

  /** Removes the entries about the device or station, and those sent by the device. */
  forget(device: string): void {
    const name = composedDevice(device)
    const sender = boundedText(deviceSender(device), senderLengthMax)
    for (const entry of this.#entries.values()) {
      const isAbout = entry.device !== undefined && composedDevice(entry.device) === name
      if (isAbout || entry.sender === sender) this.#drop(entry)
    }
  }

  #entryOf({ way, sender, device, reason, part }: Rejection, count: number, nowMs: number): Kept {
    const name = boundedText(sender.name, senderLengthMax)
    const ofDevice = device === undefined ? undefined : boundedText(device, deviceLengthMax)
    const why = boundedText(reason, reasonLengthMax)
    return {
      id: ++this.#lastId,
      way,
      sender: name,
      device: ofDevice,
      reason: why,
      ...(part !== undefined && { part }),
      count,
      firstMs: nowMs,
      latestMs: nowMs,
      // These texts contain no line break.
      key: [way, sender.isKnown, name, ofDevice === undefined ? '' : `=${ofDevice}`, why].join('\n'),
      share: sender.isKnown ? name : shareOfUnknown,
    }
  }

  #keep(entry: Kept): void {
    this.#entries.set(entry.id, entry)
    this.#byKey.set(entry.key, entry)
    const share = this.#shares.get(entry.share)
    if (share === undefined) this.#shares.set(entry.share, new Set([entry.id]))
    else share.add(entry.id)
  }

  #drop({ id, key, share }: Kept): void {
    this.#entries.delete(id)
    this.#byKey.delete(key)
    const ids = this.#shares.get(share)
    ids?.delete(id)
    if (ids?.size === 0) this.#shares.delete(share)
  }

  /** The oldest one of equally large shares is chosen. A walk over a thousand senders at most takes microseconds. */
  #oldestOfLargestShare(): Kept {
    let largest = 0
    let oldest = Number.POSITIVE_INFINITY
    for (const ids of this.#shares.values()) {
      const [first = Number.POSITIVE_INFINITY] = ids
      if (ids.size < largest || (ids.size === largest && first > oldest)) continue
      largest = ids.size
      oldest = first
    }
    const entry = this.#entries.get(oldest)
    if (entry === undefined) throw bug(`a sender has rejection ${oldest}, which is not kept`)
    return entry
  }
}

/** Normalized to one Unicode form, since devices are found by their names. */
function composedDevice(name: string): string {
  return boundedText(name, deviceLengthMax).normalize('NFC')
}
