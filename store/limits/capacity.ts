/**
 * A capacity in slots or bytes that holders share, with the amounts by key. When it is exhausted, holders that have kept the
 * service waiting for too long are evicted, so that slow clients do not block all others.
 */

import { bug } from './bug.ts'

interface CapacityOptions<Holder> {
  max: number
  /** No holder is evicted without it. */
  eviction?: {
    /** A holder that has kept the service waiting for this long may be evicted. */
    waitMsMax: number
    nowMs: () => number
    /** Called with a holder after its release. */
    evict: (holder: Holder) => void
  }
}

interface Held {
  amount: number
  keys: readonly string[]
}

export class Capacity<Holder> {
  readonly #options: CapacityOptions<Holder>
  readonly #held = new Map<Holder, Held>()
  /** Keys that hold nothing have no entry. */
  readonly #amounts = new Map<string, number>()
  /** Each holder has the time at which the service began to wait for it. The longest wait is first. */
  readonly #waitingSinceMs = new Map<Holder, number>()
  #total = 0

  constructor(options: CapacityOptions<Holder>) {
    this.#options = options
  }

  holders(): Iterable<Holder> {
    return this.#held.keys()
  }

  amountOf(key: string): number {
    return this.#amounts.get(key) ?? 0
  }

  /** A single holder may have any amount. */
  isFull(amount = 1): boolean {
    return this.#total > 0 && this.#total + amount > this.#options.max
  }

  /** Returns false when there is no room. The caller first checks the limit of each key. */
  take(holder: Holder, keys: readonly string[] = [], amount = 1): boolean {
    if (this.#held.has(holder)) throw bug('a holder takes twice')
    this.#makeRoom(amount)
    if (this.isFull(amount)) return false
    this.#held.set(holder, { amount, keys })
    this.#add(keys, amount)
    return true
  }

  /** Returns false for a holder that was released or evicted before. */
  release(holder: Holder): boolean {
    const held = this.#held.get(holder)
    if (held === undefined) return false
    this.#held.delete(holder)
    this.#waitingSinceMs.delete(holder)
    this.#add(held.keys, -held.amount)
    return true
  }

  /** Starts or ends the wait for a holder. A wait in progress starts again. */
  wait(holder: Holder, isWaiting: boolean): void {
    this.#waitingSinceMs.delete(holder)
    const { eviction } = this.#options
    if (isWaiting && eviction && this.#held.has(holder)) this.#waitingSinceMs.set(holder, eviction.nowMs())
  }

  #add(keys: readonly string[], amount: number): void {
    this.#total += amount
    for (const key of keys) {
      const sum = this.amountOf(key) + amount
      if (sum > 0) this.#amounts.set(key, sum)
      else this.#amounts.delete(key)
    }
  }

  #makeRoom(amount: number): void {
    const { eviction } = this.#options
    for (const [holder, sinceMs] of this.#waitingSinceMs) {
      if (eviction === undefined || !this.isFull(amount) || eviction.nowMs() - sinceMs < eviction.waitMsMax) return
      this.release(holder)
      eviction.evict(holder)
    }
  }
}

/**
 * Limits the memory of held bytes. Slow senders hold memory for long, so a key gets at most as much as it leaves free (a dynamic
 * threshold): a single key holds at most half, and later keys find room.
 */
export class ByteBudget {
  readonly #bytesMax: number
  #bytes = 0
  /** Keys that hold nothing have no entry. */
  readonly #held = new Map<string, number>()

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Returns false when there is no room. */
  take(key: string, bytes: number): boolean {
    const held = (this.#held.get(key) ?? 0) + bytes
    if (held > this.#bytesMax - this.#bytes - bytes) return false
    this.#bytes += bytes
    this.#held.set(key, held)
    return true
  }

  release(key: string, bytes: number): void {
    const held = (this.#held.get(key) ?? 0) - bytes
    this.#bytes -= bytes
    if (held > 0) this.#held.set(key, held)
    else this.#held.delete(key)
  }
}
