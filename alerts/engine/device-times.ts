/** What the evaluation knows of each covered device: when it was heard, and when its silence counts. */

/** As they stand in a row of `facts`, five numbers a device. */
export interface DeviceFacts {
  readonly number: number
  /** Of the newest reading as the device has it, epoch microseconds; NaN without. */
  readonly seenUs: number
  /** Of the newest reading, at most its receipt, epoch milliseconds; NaN without. */
  readonly lastMs: number
  /** Age from which the device counts as silent; Infinity for one that never does. */
  readonly lateSeconds: number
  /** Age up to which it is as expected. */
  readonly freshSeconds: number
}

export const factsLength = 5

export function packFacts(devices: readonly DeviceFacts[]): Float64Array<ArrayBuffer> {
  const packed = new Float64Array(devices.length * factsLength)
  devices.forEach(({ number, seenUs, lastMs, lateSeconds, freshSeconds }, index) => {
    packed.set([number, seenUs, lastMs, lateSeconds, freshSeconds], index * factsLength)
  })
  return packed
}

/** By the slot of the device. */
export class DeviceTimes {
  seenUs = new Float64Array(64)
  lastMs = new Float64Array(64)
  lateMs = new Float64Array(64)
  freshMs = new Float64Array(64)

  /** As for a device that nothing is known of. */
  clear(slot: number): void {
    while (slot >= this.seenUs.length) this.#grow()
    this.seenUs[slot] = Number.NaN
    this.lastMs[slot] = Number.NaN
    this.lateMs[slot] = Number.POSITIVE_INFINITY
    this.freshMs[slot] = 0
  }

  /** What was heard since stays. */
  set(slot: number, { seenUs, lastMs, lateSeconds, freshSeconds }: DeviceFacts): void {
    this.seenUs[slot] = latest(this.seenUs[slot] as number, seenUs)
    this.lastMs[slot] = latest(this.lastMs[slot] as number, lastMs)
    this.lateMs[slot] = lateSeconds * 1000
    this.freshMs[slot] = freshSeconds * 1000
  }

  /** Our clock was set back: nothing was heard later than now, and no time that we gave is. Times of a clock that is ahead stay. */
  clamp(nowMs: number): void {
    const { seenUs, lastMs } = this
    for (let slot = 0; slot < lastMs.length; slot++) {
      const [seen, last] = [seenUs[slot] as number, lastMs[slot] as number]
      if (last <= nowMs || Number.isNaN(last)) continue
      if (!isAhead(seen, last)) seenUs[slot] = Math.min(seen, nowMs * 1000)
      lastMs[slot] = nowMs
    }
  }

  #grow(): void {
    for (const name of ['seenUs', 'lastMs', 'lateMs', 'freshMs'] as const) {
      const after = new Float64Array(2 * this[name].length)
      after.set(this[name])
      this[name] = after
    }
  }
}

/** Whether a reading's time is of a clock that is ahead of ours; what we stamp has the time of its receipt. */
export function isAhead(timeUs: number, receiptMs: number): boolean {
  return timeUs / 1000 - receiptMs > 1
}

function latest(a: number, b: number): number {
  if (Number.isNaN(a)) return b
  return Number.isNaN(b) ? a : Math.max(a, b)
}
