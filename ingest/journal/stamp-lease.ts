/**
 * The classes of stamps that this process has of those that all processes share, and how far it may use them: each has a bound in
 * PostgreSQL, which is raised ahead of the clock. No clock and no lease has to be right for a stamp to be given out once:
 *
 * - A process gives out stamps of a class between the bound that the class had when it took it, and a bound that it has made durable
 *   since. Whoever takes the class later begins above that, also when the earlier one goes on after a freeze.
 * - A class whose bound is not the one that this process has left there begins anew, above it: another process had it meanwhile,
 *   or an answer was lost.
 *
 * The lease only says who may take a class that nobody has given back.
 */

import type { Log } from '../../store/log.ts'
import { type HeldClass, LeasedStamper } from './leased-stamper.ts'
import type { Stamper } from './stamp.ts'
import { type LeasedClass, leasedModulus, type StampClassRows } from './stamp-classes.ts'

export interface StampLeaseOptions {
  rows: StampClassRows
  /** A UUID that no other process has. */
  holder: string
  nowUs: () => number
  /** A clock that never steps. */
  monotonicMs?: () => number
  log: Log
}

/** So that twelve processes have some, and a clock can be set back three times before stamps run ahead of it. */
const classesMax = 4
const leaseMs = 60_000
const aheadMsMin = 60_000
const aheadMsMax = 24 * 3_600_000

export class StampLease {
  readonly #options: Required<StampLeaseOptions>
  readonly #stampers: readonly LeasedStamper[]
  readonly #startMs: number
  #held: ReadonlyMap<number, HeldClass> = new Map()

  /** A stamper for each table: in two tables a stamp may be the same. */
  constructor(options: StampLeaseOptions, tables: number, onRefused: () => void = () => undefined) {
    const { nowUs, log, monotonicMs = () => performance.now() } = options
    this.#options = { ...options, monotonicMs }
    this.#startMs = monotonicMs()
    this.#stampers = Array.from({ length: tables }, () => new LeasedStamper({ nowUs, log, onRefused }))
  }

  get stampers(): readonly Stamper[] {
    return this.#stampers
  }

  /** Whether there is a class to give out stamps of. */
  hasClasses(): boolean {
    return this.#held.size > 0
  }

  /** Renews the lease and raises the bounds; one call at a time. Rejects where PostgreSQL does not answer. */
  async renew(): Promise<void> {
    const { rows, holder } = this.#options
    this.#hold(await rows.lease(holder, { classesMax, leaseMs, boundsUs: this.#wantedUs() }))
  }

  /**
   * As far ahead as the process has run, so that it goes on as long without PostgreSQL; no further, since the class of a process
   * that ends without a word cannot be used until the clock has passed its bound: then a process that is killed again and again
   * does not use up all classes.
   */
  #wantedUs(): Map<number, number> {
    const runMs = this.#options.monotonicMs() - this.#startMs
    const aheadUs = 1000 * Math.min(aheadMsMax, Math.max(aheadMsMin, Math.round(runMs)))
    const wanted = new Map<number, number>()
    for (const stamper of this.#stampers) {
      const us = stamper.skip()
      if (us === undefined) continue
      const residue = us % leasedModulus
      wanted.set(residue, Math.max(wanted.get(residue) ?? 0, us + aheadUs))
    }
    return wanted
  }

  #hold(classes: readonly LeasedClass[]): void {
    let isOther = classes.length !== this.#held.size
    const held = new Map<number, HeldClass>()
    for (const { class: residue, beforeUs, boundUs } of classes) {
      const known = this.#held.get(residue)
      const isOwn = known?.boundUs === beforeUs
      held.set(residue, { floorUs: isOwn ? known.floorUs : beforeUs, boundUs })
      isOther ||= !isOwn
    }
    this.#held = held
    for (const stamper of this.#stampers) stamper.hold(held, isOther)
  }

  /** Gives no stamp out any more, and the classes back: whoever has them next goes on behind the last stamps. */
  async release(): Promise<void> {
    const residues = [...this.#held.keys()]
    this.#hold([])
    const highest = (residue: number) => Math.max(...this.#stampers.map(stamper => stamper.highestOf(residue)))
    await this.#options.rows.release(
      this.#options.holder,
      new Map(residues.map(residue => [residue, highest(residue)])),
    )
  }
}
