/**
 * A capacity that holders share, in slots or bytes, of which the amounts by key are known. When all of it is taken, holders
 * that have been waited for too long are evicted, so that slow clients do not keep out everybody else.
 */

import { bug } from './bug.ts'

export interface CapacityOptions<Holder> {
  max: number
  /** Without it no holder is evicted. */
  eviction?: {
    /** A holder that has been waited for so long may be evicted. */
    patienceMs: number
    nowMs: () => number
    /** Called with a holder that has just been released. */
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
  /** Keys of which nothing is held are not in here. */
  readonly #amounts = new Map<string, number>()
  /** Since when holders are waited for, the longest first. */
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

  /** False when there is no room. How much a key may have is for the caller to ask first. */
  take(holder: Holder, keys: readonly string[] = [], amount = 1): boolean {
    if (this.#held.has(holder)) throw bug('a holder takes twice')
    this.#makeRoom(amount)
    if (this.isFull(amount)) return false
    this.#held.set(holder, { amount, keys })
    this.#add(keys, amount)
    return true
  }

  /** False for a holder that has been released or evicted before. */
  release(holder: Holder): boolean {
    const held = this.#held.get(holder)
    if (held === undefined) return false
    this.#held.delete(holder)
    this.#waitingSinceMs.delete(holder)
    this.#add(held.keys, -held.amount)
    return true
  }

  /** Starts or ends the wait for a holder; a wait that is under way starts again. */
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
      if (eviction === undefined || !this.isFull(amount) || eviction.nowMs() - sinceMs < eviction.patienceMs) return
      this.release(holder)
      eviction.evict(holder)
    }
  }
}
