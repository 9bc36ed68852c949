/** Assigns stamps of the classes leased by this process, up to the bound of each class in PostgreSQL. */

import type { Log } from '../../store/log.ts'
import { type ClassStamper, createStamper, type Stamper } from './stamp.ts'
import { leasedModulus } from './stamp-classes.ts'

export interface HeldClass {
  /** Epoch microseconds. Other processes may have assigned stamps up to here. */
  floorUs: number
  /** Only this process assigns stamps up to here. */
  boundUs: number
}

export interface LeasedStamperOptions {
  nowUs: () => number
  log: Log
  /** Called when a requested stamp lies above the bound of its class. */
  onRefused: () => void
}

export class LeasedStamper implements Stamper {
  readonly #options: LeasedStamperOptions
  #held: ReadonlyMap<number, HeldClass> = new Map()
  /** By class: the highest assigned stamp, or its floor. */
  readonly #highest = new Float64Array(leasedModulus)
  #stamper: ClassStamper | undefined
  #last = 0
  #highestGiven = 0
  #isRefused = false

  constructor(options: LeasedStamperOptions) {
    this.#options = options
  }

  next(): number | undefined {
    const us = this.#stamper?.next()
    const residue = (us ?? 0) % leasedModulus
    const boundUs = this.#held.get(residue)?.boundUs ?? 0
    this.#isRefused = us === undefined || us > boundUs
    if (us === undefined || this.#isRefused) {
      this.#options.onRefused()
      return undefined
    }
    this.#highest[residue] = us
    this.#last = us
    this.#highestGiven = Math.max(this.#highestGiven, us)
    return us
  }

  lastUs(): number {
    return this.#last
  }

  highestUs(): number {
    return this.#highestGiven
  }

  issue(): string | undefined {
    if (!this.#isRefused) return undefined
    return 'no receive timestamps are left until PostgreSQL has reserved more'
  }

  /** Sets the classes and their bounds. `isOther`: some of them restart above their floors. */
  hold(held: ReadonlyMap<number, HeldClass>, isOther: boolean): void {
    this.#held = held
    this.#isRefused = false
    if (!isOther) return
    for (const [residue, { floorUs }] of held) {
      this.#highest[residue] = Math.max(this.highestOf(residue), floorUs)
    }
    this.#stamper = held.size === 0 ? undefined : this.#begin([...held.keys()])
  }

  #begin(residues: readonly number[]): ClassStamper {
    const { nowUs, log } = this.#options
    return createStamper({
      nowUs,
      state: { residue: undefined, highestUs: [...this.#highest] },
      // The bound of a class is durable before its stamps are assigned.
      save: () => true,
      onExhausted: us => log.error({ seconds: Math.round(us / 1_000_000) }, exhausted),
      modulus: leasedModulus,
      residues,
    })
  }

  /** Advances the class that the clock selects without assigning its stamp. Undefined without classes. */
  skip(): number | undefined {
    return this.#stamper?.next()
  }

  /** Upper bound of the class's assigned stamps. */
  highestOf(residue: number): number {
    return this.#highest[residue] ?? 0
  }
}

const exhausted = 'all classes of stamps are ahead of the clock; timestamps stay ahead of it until it catches up'
