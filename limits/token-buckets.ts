/** Rate limits by key. Each key has a token bucket: a rate in the long run, and a burst at once. */

export interface Rate {
  perSecond: number
  burst: number
}

export interface Bucket {
  /** Below zero for a bucket in debt. */
  tokens: number
  filledAtMs: number
}

/** Bounds the number of buckets. A key whose bucket was dropped starts with a full one. */
interface Store<Key> {
  get(key: Key): Bucket | undefined
  set(key: Key, bucket: Bucket): unknown
}

/** Up to so many buckets, none are dropped. */
const bucketsMin = 1000

export class TokenBuckets<Key> {
  readonly #rate: Rate
  readonly #nowMs: () => number
  readonly #buckets: Store<Key>

  /** Without a store, only full buckets are dropped. */
  constructor(rate: Rate, nowMs: () => number, buckets?: Store<Key>) {
    this.#rate = rate
    this.#nowMs = nowMs
    this.#buckets = buckets ?? new PartialBuckets(bucket => this.#fill(bucket).tokens === rate.burst)
  }

  /** Takes a token; false when there is none. */
  take(key: Key): boolean {
    const bucket = this.#bucketOf(key)
    if (bucket.tokens < 1) return false
    bucket.tokens--
    return true
  }

  /** Takes so many tokens, whether they are there or not. */
  spend(key: Key, count: number): void {
    this.#bucketOf(key).tokens -= count
  }

  /** Milliseconds until there is a token. */
  waitMs(key: Key): number {
    const bucket = this.#buckets.get(key)
    if (bucket === undefined) return 0
    return Math.max(0, ((1 - this.#fill(bucket).tokens) / this.#rate.perSecond) * 1000)
  }

  #bucketOf(key: Key): Bucket {
    const known = this.#buckets.get(key)
    if (known !== undefined) return this.#fill(known)
    const bucket = { tokens: this.#rate.burst, filledAtMs: this.#nowMs() }
    this.#buckets.set(key, bucket)
    return bucket
  }

  #fill(bucket: Bucket): Bucket {
    const nowMs = this.#nowMs()
    // The clock may have been set back.
    const elapsedMs = Math.max(0, nowMs - bucket.filledAtMs)
    bucket.tokens = Math.min(this.#rate.burst, bucket.tokens + (elapsedMs / 1000) * this.#rate.perSecond)
    bucket.filledAtMs = nowMs
    return bucket
  }
}

/** Drops full buckets whenever there are twice as many as were left the last time. */
export class PartialBuckets<Key> extends Map<Key, Bucket> {
  readonly #isFull: (bucket: Bucket) => boolean
  #max = bucketsMin

  constructor(isFull: (bucket: Bucket) => boolean) {
    super()
    this.#isFull = isFull
  }

  override set(key: Key, bucket: Bucket): this {
    if (this.size >= this.#max) {
      for (const [other, each] of this) if (this.#isFull(each)) this.delete(other)
      this.#max = Math.max(bucketsMin, 2 * this.size)
    }
    return super.set(key, bucket)
  }
}
