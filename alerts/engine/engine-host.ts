/** Entry point of this folder: evaluates rules while this process is the leader, and receives changes of rules and devices. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../store/log.ts'
import { EngineRun, type EngineRunOptions } from './engine-run.ts'
import { KnownRules, type KnownRulesOptions } from './known-rules.ts'
import { Observers, type ObserversOptions } from './observers.ts'
import type { TakenReadings } from './packed-readings.ts'
import { ruleOfFault } from './pair-states.ts'
import type { Coverage, SelectingRule } from './rule-coverage.ts'

export interface EngineHostOptions
  extends Omit<EngineRunOptions, 'rules' | 'coverage' | 'failed' | 'applied' | 'monotonicMs' | 'live'>,
    Omit<KnownRulesOptions, 'signal'>,
    Omit<ObserversOptions, 'log' | 'live' | 'signal'> {
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  readonly live: EngineRunOptions['live'] & ObserversOptions['live']
  readonly leads: () => boolean
  /** Disables a rule whose evaluation has thrown: without that it would end the evaluation of all rules again. */
  readonly disableRule: (rule: number, error: Error) => Promise<void>
}

export interface EngineHostState {
  readonly isLive: boolean
  readonly pairs: number
  /** Rules that cover fewer devices than they select, as there would be too many pairs. */
  readonly partialRules: readonly number[]
  readonly backlog: number
  /** Readings that were left out while too many waited, since the start. */
  readonly dropped: number
  /** Alerts that came and went before they could be written. */
  readonly merged: number
  /** Changes whose content PostgreSQL has refused. They are dropped. */
  readonly refused: number
}

const lookEveryMs = 1000
/** A replay of stored readings takes seconds. */
const retryMs = 100

export class EngineHost {
  readonly #options: EngineHostOptions
  readonly #closing = new AbortController()
  readonly #known: KnownRules
  readonly #observers: Observers
  #run: EngineRun | undefined
  readonly #timer: NodeJS.Timeout
  #looking: Promise<void> = Promise.resolve()
  #isLooking = false
  /** Resolves when the end of a failed run is handled. */
  #ending: Promise<void> = Promise.resolve()
  #dropped = 0
  #merged = 0
  #refused = 0

  constructor(options: EngineHostOptions) {
    const { signal } = this.#closing
    this.#options = options
    this.#known = new KnownRules({ ...options, signal }, () => this.#run)
    this.#observers = new Observers({ ...options, signal })
    this.#timer = setInterval(() => this.#look(), lookEveryMs)
    this.#look()
  }

  /** Readings that became durable. */
  take(readings: TakenReadings, receiptMs: number): void {
    this.#run?.take(readings, receiptMs)
  }

  /** Some readings were not passed on. */
  missed(): void {
    this.#run?.missed()
  }

  rulesChanged(): void {
    this.#known.changed()
    this.#look()
  }

  /** Changes that are not committed yet. */
  backlog(): number {
    return this.#run?.backlog ?? 0
  }

  /** Undefined while this process does not evaluate the rule. */
  coverageOf(rule: number): Coverage | undefined {
    return this.#known.coverage.of(rule)
  }

  /** True where the pairs of the rule fit, in place of an earlier version of the rule. */
  hasRoomFor(rule: SelectingRule, before: number | undefined): boolean {
    return this.#known.coverage.hasRoomFor(rule, before)
  }

  state(): EngineHostState {
    const run = this.#run
    return {
      isLive: run?.isLive ?? false,
      pairs: run?.state.pairs ?? 0,
      partialRules: this.#known.coverage.partialRules(),
      backlog: this.backlog(),
      dropped: this.#dropped + (run?.dropped ?? 0),
      merged: this.#merged + (run?.state.merged ?? 0),
      refused: this.#refused + (run?.refused ?? 0),
    }
  }

  /**
   * Removes values of erased devices, or of one metric, from memory, and then by `eraseStored` from PostgreSQL. Repeats both if
   * evaluation has restarted meanwhile, since a restart reads stored values.
   */
  async eraseValues(
    devices: readonly number[],
    metric: string | null,
    eraseStored: () => Promise<void>,
  ): Promise<void> {
    const { signal } = this.#closing
    for (;;) {
      signal.throwIfAborted()
      const run = this.#run
      if (run === undefined || (await run.eraseValues(devices, metric))) {
        await eraseStored()
        if (this.#run === run) return
      } else await sleep(retryMs, undefined, { signal })
    }
  }

  #look(): void {
    if (this.#isLooking || this.#closing.signal.aborted) return
    this.#isLooking = true
    this.#looking = this.#lookOnce()
      .catch(error => this.#options.log.warn({ err: error }, 'rules of alerts cannot be read; it is tried again'))
      .finally(() => {
        this.#isLooking = false
      })
  }

  async #lookOnce(): Promise<void> {
    await this.#ending
    if (!this.#options.leads()) {
      await this.#end(false)
      return
    }
    await this.#known.look()
    if (this.#closing.signal.aborted) return
    if (this.#known.rules.size === 0) await this.#end(true)
    else if (this.#run === undefined) this.#begin()
    else await this.#observe(this.#run)
  }

  #begin(): void {
    const { log, disableRule } = this.#options
    const failed = (error: Error) => {
      const rule = ruleOfFault(error)
      log.error({ err: error, rule }, 'the evaluation of alerts has ended; it begins again')
      this.#ending = this.#ending
        .then(() => this.#end(false))
        .then(() => (rule === undefined ? undefined : disableRule(rule, error)))
        .catch(reason => log.warn({ err: reason, rule }, 'the failed evaluation of alerts could not be ended'))
    }
    const applied = (unknownRules: readonly number[]) => {
      if (unknownRules.length > 0) this.rulesChanged()
    }
    const monotonicMs = () => performance.now()
    const { rules, coverage } = this.#known
    this.#run = new EngineRun({ ...this.#options, rules, coverage, applied, failed, monotonicMs })
  }

  async #end(isLeading: boolean): Promise<void> {
    const run = this.#run
    this.#run = undefined
    if (!isLeading) this.#known.forget()
    if (run === undefined) return
    await run.close(isLeading)
    this.#dropped += run.dropped
    this.#merged += run.state.merged
    this.#refused += run.refused
  }

  async #observe(run: EngineRun): Promise<void> {
    await this.#known.selectAgain()
    if (!run.isRestored) return
    const { rules, coverage } = this.#known
    await this.#observers.look({ run, rules, coverage })
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#looking
    await this.#ending
    await this.#observers.close()
    await this.#end(this.#options.leads())
  }
}
