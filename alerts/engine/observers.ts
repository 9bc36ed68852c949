/** Feeds rules with observations other than readings: facts of the service (every 10 s), full hours, and battery estimates (every 6 h). */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Live } from '../../query/live/live.ts'
import type { Log } from '../../store/log.ts'
import { type Fact, holds } from '../core/condition.ts'
import type { AlertDevices, ReadAlertReadings } from '../core/devices.ts'
import { noDevice, type Rule } from '../core/rule.ts'
import { hourMs as hourLengthMs } from '../core/suspect-share.ts'
import type { EngineRun } from './engine-run.ts'
import {
  type BatteryDays,
  lastFullHourMs,
  observeDays,
  observeHour,
  observeUnusual,
  type UnusualShifts,
} from './periodic-feeds.ts'
import type { RuleCoverage } from './rule-coverage.ts'
import { observeSuspects } from './suspect-hours.ts'

export interface ObserversOptions {
  readonly nowMs: () => number
  readonly log: Pick<Log, 'warn'>
  readonly live: Pick<Live, 'hourShareOf' | 'silenceOf'>
  readonly devices: AlertDevices
  readonly readings: ReadAlertReadings
  /** The returned function is true once QuestDB shows all readings that were accepted before this call. */
  readonly markTaken: () => () => boolean
  readonly facts: () => Promise<readonly Fact[]>
  readonly batteryDays: BatteryDays
  readonly unusualShifts: UnusualShifts
  /** Waiting time after stored readings could not be read. */
  readonly suspectsRetryMs?: number
  readonly factsEveryMs?: number
  readonly signal: AbortSignal
}

/** The rules that are evaluated, and by which run. */
export interface Observed {
  readonly run: Pick<EngineRun, 'isLive' | 'observe' | 'lastOutageMs'>
  /** Keys are the ids of rules. The map changes while asynchronous work continues. */
  readonly rules: ReadonlyMap<number, Rule>
  readonly coverage: Pick<RuleCoverage, 'devicesOf'>
}

const factsEveryUsualMs = 10_000
const daysEveryMs = 6 * 3_600_000
const daysRetryMs = 600_000
const suspectsRetryUsualMs = 60_000
const shownPollMs = 500

export class Observers {
  readonly #options: ObserversOptions
  #factsMs = 0
  #hourMs = Number.NaN
  readonly #days: BackgroundFeed
  readonly #suspects: BackgroundFeed
  readonly #unusual: BackgroundFeed

  constructor(options: ObserversOptions) {
    const { log, signal, suspectsRetryMs = suspectsRetryUsualMs } = options
    this.#options = options
    const feed = (kind: string, retryMs: number, given: Pick<FeedOptions, 'takes' | 'rulesMax' | 'observe'>) =>
      new BackgroundFeed({
        ...given,
        retryMs,
        failed(error) {
          if (!signal.aborted) log.warn({ err: error }, `rules on ${kind} postponed`)
        },
      })
    this.#days = feed('batteries', daysRetryMs, {
      takes: ({ condition }) => condition.kind === 'battery' && condition.days !== undefined,
      rulesMax: 1,
      async observe({ rules }, observed) {
        for (const rule of rules) await observeDays(rule, { ...options, ...observed })
      },
    })
    this.#suspects = feed('suspect readings', suspectsRetryMs, {
      takes: ({ condition }) => condition.kind === 'suspect',
      rulesMax: Number.POSITIVE_INFINITY,
      observe: (due, observed) => this.#observeSuspects(due, observed),
    })
    this.#unusual = feed('unusual values', suspectsRetryMs, {
      takes: ({ condition }) => condition.kind === 'unusual',
      rulesMax: 1,
      observe: async (due, observed) => {
        await this.#untilShown()
        for (const rule of due.rules) await observeUnusual(rule, this.#hourEndOf(due), { ...options, ...observed })
      },
    })
  }

  /** The caller calls this often. Facts of the service are passed on also while stored readings cannot be read. */
  async look(observed: Observed): Promise<void> {
    await this.#lookAtFacts(observed)
    if (!observed.run.isLive) return
    const hourMs = lastFullHourMs(this.#options.nowMs())
    this.#days.look(observed, Math.floor(performance.now() / daysEveryMs))
    this.#suspects.look(observed, hourMs)
    this.#unusual.look(observed, hourMs)
    await this.#lookAtHour(hourMs, observed)
  }

  async #lookAtFacts({ run, rules }: Observed): Promise<void> {
    const { nowMs, factsEveryMs = factsEveryUsualMs } = this.#options
    const now = performance.now()
    const ofService = [...rules.values()].filter(({ condition }) => condition.kind === 'service')
    if (now - this.#factsMs < factsEveryMs || ofService.length === 0) return
    this.#factsMs = now
    const facts = await this.#options.facts()
    for (const { id, condition } of ofService) {
      const fact = facts.find(({ fact }) => condition.kind === 'service' && fact === condition.fact)
      if (fact === undefined || condition.kind !== 'service') continue
      const { value, text } = fact
      run.observe(id, noDevice, { kind: 'fact', nowMs: nowMs(), holds: holds(condition, fact), value, text })
    }
  }

  async #lookAtHour(hourMs: number, { run, rules, coverage }: Observed): Promise<void> {
    if (hourMs === this.#hourMs) return
    this.#hourMs = hourMs
    if (run.lastOutageMs >= hourMs) return
    const { live, signal } = this.#options
    await observeHour(hourMs, { run, rules: rules.values(), coverage, live, signal })
  }

  async #observeSuspects(due: DueRules, observed: FedRules): Promise<void> {
    await this.#untilShown()
    const { nowMs, log } = this.#options
    const hour = { beginMs: due.period, atMs: this.#hourEndOf(due) }
    const unknown = await observeSuspects(hour, due.rules, { ...this.#options, ...observed })
    const isLate = lastFullHourMs(nowMs()) - due.period > hourLengthMs
    if (!isLate && unknown.length === 0) return
    log.warn({ hour: new Date(due.period), devices: unknown.length, isLate }, 'suspect readings not judged completely')
  }

  /** Rules that are new here observe the last full hour as of now. After a start all rules are new. */
  #hourEndOf({ isFirst, period }: DueRules): number {
    return isFirst ? this.#options.nowMs() : period + hourLengthMs
  }

  async #untilShown(): Promise<void> {
    const isShown = this.#options.markTaken()
    while (!isShown()) await sleep(shownPollMs, undefined, { signal: this.#options.signal })
  }

  /** Feeds that run in the background have ended. */
  async close(): Promise<void> {
    await Promise.all([this.#days.ended(), this.#suspects.ended(), this.#unusual.ended()])
  }
}

interface DueRules {
  readonly rules: readonly Rule[]
  readonly period: number
  /** They have not been fed before. */
  readonly isFirst: boolean
}

interface FedRules {
  readonly coverage: Observed['coverage']
  readonly run: Pick<EngineRun, 'observe'>
}

interface FeedOptions {
  readonly takes: (rule: Rule) => boolean
  /** Maximum number of rules that are fed at once. */
  readonly rulesMax: number
  readonly retryMs: number
  readonly observe: (due: DueRules, observed: FedRules) => Promise<void>
  readonly failed: (error: unknown) => void
}

/** Feeds rules once a period, beside all else: of many devices it takes minutes. */
class BackgroundFeed {
  readonly #options: FeedOptions
  /** The last period that a rule was fed with. A rule that has changed is another object. */
  readonly #periods = new WeakMap<Rule, number>()
  #running: Promise<void> | undefined
  #notBeforeMs = Number.NEGATIVE_INFINITY

  constructor(options: FeedOptions) {
    this.#options = options
  }

  look(observed: Observed, period: number): void {
    if (this.#running !== undefined || performance.now() < this.#notBeforeMs) return
    const all = [...observed.rules.values()].filter(this.#options.takes)
    const added = all.filter(rule => !this.#periods.has(rule))
    const isFirst = added.length > 0
    const due = isFirst ? added : all.filter(rule => this.#periods.get(rule) !== period)
    const rules = due.slice(0, this.#options.rulesMax)
    if (rules.length === 0) return
    this.#running = this.#feed({ rules, period, isFirst }, presentOnly(rules, observed)).finally(() => {
      this.#running = undefined
    })
  }

  async #feed(due: DueRules, observed: FedRules): Promise<void> {
    const { observe, retryMs, failed } = this.#options
    try {
      await observe(due, observed)
      for (const rule of due.rules) this.#periods.set(rule, due.period)
    } catch (error) {
      this.#notBeforeMs = performance.now() + retryMs
      failed(error)
    }
  }

  async ended(): Promise<void> {
    await this.#running
  }
}

/** A rule that has changed meanwhile gets no observations that were made for the one before. */
function presentOnly(due: readonly Rule[], { run, rules, coverage }: Observed): FedRules {
  const asked = new Map(due.map(rule => [rule.id, rule]))
  return {
    coverage,
    run: {
      observe(id, device, observation) {
        if (rules.get(id) === asked.get(id)) run.observe(id, device, observation)
      },
    },
  }
}
