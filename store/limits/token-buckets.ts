/** Rate limits by key. Each key has a token bucket: a rate in the long run, and a burst at once. */

export interface Rate {
  perSecond: number
  burst: number
}

export interface Bucket {
  /** Negative after a `spend` beyond the bucket's tokens. */
  tokens: number
  /** Milliseconds of the buckets' own clock, which runs at the fill rate. */
  filledAtMs: number
}

/** Limits the number of buckets. A key whose bucket was dropped starts with a full one. */
interface Store<Key> {
  get(key: Key): Bucket | undefined
  set(key: Key, bucket: Bucket): unknown
}

/** No bucket is dropped up to this count. */
const bucketsMin = 1000

export class TokenBuckets<Key> {
  readonly #rateNow: () => Rate
  readonly #nowMs: () => number
  readonly #buckets: Store<Key>
  readonly #perSecondFirst: number
  #rate: Rate
  /** Time of the last call. The first call has no previous time to count from. */
  #wallMs = Number.POSITIVE_INFINITY
  #clockMs = 0
  /** Tokens of an untouched bucket: less than a burst for a while after the burst was raised. */
  #tokensMax: number

  /**
   * Without a store, only full buckets are dropped. A rate function returns the same object while the rate is unchanged. A change
   * of the rate fills no bucket.
   */
  constructor(rate: Rate | (() => Rate), nowMs: () => number, buckets?: Store<Key>) {
    this.#rateNow = typeof rate === 'function' ? rate : () => rate
    this.#nowMs = nowMs
    this.#buckets = buckets ?? new PartialBuckets(bucket => this.#fill(bucket).tokens === this.#tokensMax)
    this.#rate = this.#rateNow()
    this.#perSecondFirst = this.#rate.perSecond
    this.#tokensMax = this.#rate.burst
  }

  /** Takes a token. Returns false without one. */
  take(key: Key): boolean {
    const bucket = this.#bucketOf(key)
    if (bucket.tokens < 1) return false
    bucket.tokens--
    return true
  }

  /** Takes this many tokens, even beyond those available. */
  spend(key: Key, count: number): void {
    this.#bucketOf(key).tokens -= count
  }

  /** Milliseconds until a token is available. */
  waitMs(key: Key): number {
    this.#advance()
    const bucket = this.#buckets.get(key)
    if (bucket === undefined) return 0
    return Math.max(0, ((1 - this.#fill(bucket).tokens) / this.#rate.perSecond) * 1000)
  }

  #bucketOf(key: Key): Bucket {
    this.#advance()
    const known = this.#buckets.get(key)
    if (known !== undefined) return this.#fill(known)
    const bucket = { tokens: this.#tokensMax, filledAtMs: this.#clockMs }
    this.#buckets.set(key, bucket)
    return bucket
  }

  #fill(bucket: Bucket): Bucket {
    bucket.tokens = Math.min(this.#tokensMax, bucket.tokens + this.#tokensOf(this.#clockMs - bucket.filledAtMs))
    bucket.filledAtMs = this.#clockMs
    return bucket
  }

  #tokensOf(clockMs: number): number {
    return (clockMs / 1000) * this.#perSecondFirst
  }

  /** A change of the rate takes effect when it is first seen. */
  #advance(): void {
    const wallMs = this.#nowMs()
    // The clock may have been set back.
    const passedMs = Math.max(0, wallMs - this.#wallMs) * (this.#rate.perSecond / this.#perSecondFirst)
    this.#wallMs = wallMs
    this.#clockMs += passedMs
    this.#tokensMax = Math.min(this.#rate.burst, this.#tokensMax + this.#tokensOf(passedMs))
    this.#rate = this.#rateNow()
    this.#tokensMax = Math.min(this.#rate.burst, this.#tokensMax)
  }
}

/** Drops full buckets when the count has doubled since the last time. */
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

// A rate that several processes share.

/** Number of processes at present, including this one. */
export type ProcessCount = () => number

export const oneProcess: ProcessCount = () => 1

/** Share of one process: at least `perSecondMin`, a divisor of the rate, with a burst of one. */
export function sharedRate(rate: Rate, processes: ProcessCount, perSecondMin = 1): () => Rate {
  let [count, part] = [1, rate]
  return () => {
    const countNow = processes()
    if (countNow !== count) {
      count = countNow
      const perSecond = Math.max(Math.min(perSecondMin, rate.perSecond), rate.perSecond / count)
      part = { perSecond, burst: Math.max(1, rate.burst / count) }
    }
    return part
  }
}

/** Share of a count: rounded down, so that the sum stays within the count, and at least 1. */
export function sharedCount(count: number, processes: ProcessCount): number {
  return Math.max(1, Math.floor(count / processes()))
}
