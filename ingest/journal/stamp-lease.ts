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

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../store/log.ts'
import { StartError } from '../../store/start-error.ts'
import { type ClassStamper, createStamper, type Stamper } from './stamp.ts'
import { type LeasedClass, leasedModulus, type StampClassRows } from './stamp-classes.ts'

interface StampLeaseOptions {
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

interface HeldClass {
  /** Epoch microseconds. Other processes may have assigned stamps up to here. */
  floorUs: number
  /** Only this process assigns stamps up to here. */
  boundUs: number
}

interface LeasedStamperOptions {
  nowUs: () => number
  log: Log
  /** Called when a requested stamp lies above the bound of its class. */
  onRefused: () => void
}

/** Assigns stamps of the classes leased by this process, up to the bound of each class in PostgreSQL. */
class LeasedStamper implements Stamper {
  readonly #options: LeasedStamperOptions
  #held: ReadonlyMap<number, HeldClass> = new Map()
  /** Each class has its highest assigned stamp, or its floor. */
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

export interface LeasedStamps {
  readings: Stamper
  points: Stamper
  /** Releases the classes. Call it when no stamp is needed any more. */
  close(): Promise<void>
}

interface LeasedStampsOptions {
  rows: StampClassRows
  nowUs: () => number
  log: Log
}

const renewEveryMs = 10_000
/** The pause is also the interval while stamps are requested and no class is available. */
const pauseMsMin = 100

/** Rejects with a StartError where other processes have all classes. */
export async function openLeasedStamps({ rows, nowUs, log }: LeasedStampsOptions): Promise<LeasedStamps> {
  const closing = new AbortController()
  let awake = Promise.withResolvers<void>()
  const lease = new StampLease({ rows, holder: randomUUID(), nowUs, log }, 2, () => awake.resolve())
  const [readings, points] = lease.stampers as [Stamper, Stamper]
  let hasFailed = false

  const pause = (ms: number) => sleep(ms, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)

  async function renew(): Promise<void> {
    try {
      await lease.renew()
      if (hasFailed) log.info({}, 'receive timestamps are reserved in PostgreSQL again')
      hasFailed = false
    } catch (error) {
      if (!hasFailed) log.warn({ err: error }, 'cannot reserve receive timestamps in PostgreSQL, retrying')
      hasFailed = true
    }
  }

  async function run(): Promise<void> {
    for (;;) {
      await Promise.race([awake.promise, pause(renewEveryMs)])
      if (closing.signal.aborted) return
      awake = Promise.withResolvers()
      await renew()
      await pause(pauseMsMin)
    }
  }

  await lease.renew()
  if (!lease.hasClasses()) {
    throw new StartError(
      'Other processes on this PostgreSQL hold all classes of receive timestamps (four each): stop one of them. ' +
        'Classes of a killed process are free after a minute.',
    )
  }
  // The first renewal took the classes, this one sets their bounds.
  await lease.renew()
  const running = run()
  return {
    readings,
    points,
    async close() {
      closing.abort()
      awake.resolve()
      await running
      // Their lease expires on its own.
      await lease.release().catch(() => undefined)
    },
  }
}
