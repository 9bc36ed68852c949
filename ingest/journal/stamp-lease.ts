/**
 * This process's classes of the stamps shared by all processes, and their limits: each has a bound in PostgreSQL, which is raised
 * ahead of the clock. Stamps are unique even when clocks and leases are wrong:
 *
 * - A process assigns stamps of a class between the class's bound when it took it and a bound that it has made durable since. A
 *   later holder begins above that, even when the earlier one continues after a freeze.
 * - A class whose bound has changed without this process restarts above it: another process had it meanwhile, or an answer was
 *   lost.
 *
 * The lease only decides when another process may take a class that was not released.
 */

import type { Log } from '../../store/log.ts'
import { type HeldClass, LeasedStamper } from './leased-stamper.ts'
import type { Stamper } from './stamp.ts'
import { type LeasedClass, leasedModulus, type StampClassRows } from './stamp-classes.ts'

export interface StampLeaseOptions {
  rows: StampClassRows
  /** A UUID of this process. */
  holder: string
  nowUs: () => number
  /** A monotonic clock. */
  monotonicMs?: () => number
  log: Log
}

/** Leaves some for twelve processes, and lets a clock be set back three times before stamps run ahead of it. */
const classesMax = 4
const leaseMs = 60_000
const aheadMsMin = 60_000
const aheadMsMax = 24 * 3_600_000

export class StampLease {
  readonly #options: Required<StampLeaseOptions>
  readonly #stampers: readonly LeasedStamper[]
  readonly #startMs: number
  #held: ReadonlyMap<number, HeldClass> = new Map()

  /** A stamper for each table: stamps in different tables may be equal. */
  constructor(options: StampLeaseOptions, tables: number, onRefused: () => void = () => undefined) {
    const { nowUs, log, monotonicMs = () => performance.now() } = options
    this.#options = { ...options, monotonicMs }
    this.#startMs = monotonicMs()
    this.#stampers = Array.from({ length: tables }, () => new LeasedStamper({ nowUs, log, onRefused }))
  }

  get stampers(): readonly Stamper[] {
    return this.#stampers
  }

  /** True when a class is available for stamps. */
  hasClasses(): boolean {
    return this.#held.size > 0
  }

  /** Renews the lease and raises the bounds, one call at a time. Rejects when PostgreSQL does not answer. */
  async renew(): Promise<void> {
    const { rows, holder } = this.#options
    this.#hold(await rows.lease(holder, { classesMax, leaseMs, boundsUs: this.#wantedUs() }))
  }

  /**
   * Bounds are as far ahead as the process has run, so that it works as long without PostgreSQL. They are not further ahead,
   * since the class of a crashed process is unusable until the clock has passed its bound. A process killed repeatedly therefore
   * does not exhaust all classes.
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

  /** Stops assigning stamps and releases the classes: the next holder continues after the last stamps. */
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
