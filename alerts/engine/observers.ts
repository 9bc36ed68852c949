/** Tells rules what is no reading: facts of the service, full hours, and how long batteries last. Each has a time of its own. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Live } from '../../query/live/live.ts'
import type { Log } from '../../store/log.ts'
import type { AlertDevices } from '../core/devices.ts'
import type { Fact } from '../core/fact.ts'
import type { ReadAlertReadings } from '../core/readings.ts'
import type { Rule } from '../core/rule.ts'
import { hourMs as hourLengthMs } from '../core/suspect-share.ts'
import { BackgroundJob } from './background-job.ts'
import { type BatteryDays, isOfDays, observeDays } from './battery-days.ts'
import type { EngineRun } from './engine-run.ts'
import { observeFacts } from './facts.ts'
import { lastFullHourMs, observeHour } from './hourly.ts'
import type { RuleCoverage } from './rule-coverage.ts'
import { isOfSuspects, observeSuspects } from './suspect-hours.ts'
import { observeUnusual, type UnusualShifts } from './unusual-hours.ts'

export interface ObserversOptions {
  readonly nowMs: () => number
  readonly log: Pick<Log, 'warn'>
  readonly live: Pick<Live, 'hourShareOf' | 'silenceOf'>
  readonly devices: AlertDevices
  readonly readings: ReadAlertReadings
  /** Of all readings that were taken up to now: whether QuestDB shows them. */
  readonly markTaken: () => () => boolean
  readonly facts: () => Promise<readonly Fact[]>
  readonly batteryDays: BatteryDays
  readonly unusualShifts: UnusualShifts
  /** After stored readings could not be read. */
  readonly suspectsRetryMs?: number
  readonly factsEveryMs?: number
  readonly signal: AbortSignal
}

/** What is evaluated, and by what. */
export interface Observed {
  readonly run: Pick<EngineRun, 'isLive' | 'observe' | 'lastOutageMs'>
  /** By their ids. It changes while something goes on beside. */
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
  readonly #days = new BackgroundJob()
  /** When a rule was told of batteries. One that has changed is another one, here and below. */
  readonly #daysMs = new WeakMap<Rule, number>()
  readonly #suspects = new BackgroundJob()
  /** Of which hour a rule was told last. */
  readonly #suspectHours = new WeakMap<Rule, number>()
  #suspectsFromMs = Number.NEGATIVE_INFINITY
  readonly #unusual = new BackgroundJob()
  /** The same bound as for suspect readings. */
  readonly #unusualHours = new WeakMap<Rule, number>()
  #unusualFromMs = Number.NEGATIVE_INFINITY

  constructor(options: ObserversOptions) {
    this.#options = options
  }

  /** To be called often. Facts of the service are told also while stored readings cannot be read. */
  async look(observed: Observed): Promise<void> {
    await this.#lookAtFacts(observed)
    if (!observed.run.isLive) return
    this.#lookAtBatteries(observed)
    this.#lookAtSuspects(observed)
    this.#lookAtUnusual(observed)
    await this.#lookAtHour(observed)
  }

  async #lookAtFacts({ run, rules }: Observed): Promise<void> {
    const { facts, nowMs, factsEveryMs = factsEveryUsualMs } = this.#options
    const now = performance.now()
    const ofService = [...rules.values()].filter(({ condition }) => condition.kind === 'service')
    if (now - this.#factsMs < factsEveryMs || ofService.length === 0) return
    this.#factsMs = now
    observeFacts(run, ofService, await facts(), nowMs())
  }

  async #lookAtHour({ run, rules, coverage }: Observed): Promise<void> {
    const { nowMs, live, signal } = this.#options
    const hourMs = lastFullHourMs(nowMs())
    if (hourMs === this.#hourMs) return
    this.#hourMs = hourMs
    if (run.lastOutageMs >= hourMs) return
    await observeHour(hourMs, { run, rules: rules.values(), coverage, live, signal })
  }

  /** Of many devices it takes minutes. */
  #lookAtBatteries(observed: Observed): void {
    if (this.#days.isRunning) return
    const { log, signal } = this.#options
    const now = performance.now()
    const lastMs = (rule: Rule) => this.#daysMs.get(rule) ?? Number.NEGATIVE_INFINITY
    const due = [...observed.rules.values()].find(rule => isOfDays(rule) && lastMs(rule) <= now - daysEveryMs)
    if (due === undefined) return
    this.#days.start(async () => {
      try {
        await observeDays(due, { ...this.#options, ...toPresent([due], observed) })
        this.#daysMs.set(due, now)
      } catch (error) {
        this.#daysMs.set(due, now - daysEveryMs + daysRetryMs)
        if (!signal.aborted) log.warn({ err: error, rule: due.id }, 'a rule on batteries waits')
      }
    })
  }

  /** Rules that are new here, as all are after a start, are told of the last full hour at once, as of now. */
  #lookAtSuspects(observed: Observed): void {
    if (this.#suspects.isRunning || performance.now() < this.#suspectsFromMs) return
    const { log, signal, nowMs, suspectsRetryMs = suspectsRetryUsualMs } = this.#options
    const hourMs = lastFullHourMs(nowMs())
    const ofSuspects = [...observed.rules.values()].filter(isOfSuspects)
    const added = ofSuspects.filter(rule => !this.#suspectHours.has(rule))
    const due = added.length > 0 ? added : ofSuspects.filter(rule => this.#suspectHours.get(rule) !== hourMs)
    if (due.length === 0) return
    this.#suspects.start(async () => {
      try {
        await this.#untilShown()
        const atMs = added.length > 0 ? nowMs() : hourMs + hourLengthMs
        const unknown = await observeSuspects({ beginMs: hourMs, atMs }, due, {
          ...this.#options,
          ...toPresent(due, observed),
        })
        for (const rule of due) this.#suspectHours.set(rule, hourMs)
        const isLate = lastFullHourMs(nowMs()) - hourMs > hourLengthMs
        if (isLate || unknown.length > 0) {
          log.warn({ hour: new Date(hourMs), devices: unknown.length, isLate }, 'not all is known of suspect readings')
        }
      } catch (error) {
        this.#suspectsFromMs = performance.now() + suspectsRetryMs
        if (!signal.aborted) log.warn({ err: error }, 'rules on suspect readings wait')
      }
    })
  }

  /** One rule at a time; of many devices it takes a while. */
  #lookAtUnusual(observed: Observed): void {
    if (this.#unusual.isRunning || performance.now() < this.#unusualFromMs) return
    const { log, signal, nowMs, suspectsRetryMs = suspectsRetryUsualMs } = this.#options
    const hourMs = lastFullHourMs(nowMs())
    const isDue = (rule: Rule) => rule.condition.kind === 'unusual' && this.#unusualHours.get(rule) !== hourMs
    const due = [...observed.rules.values()].find(isDue)
    if (due === undefined) return
    this.#unusual.start(async () => {
      try {
        await this.#untilShown()
        const atMs = this.#unusualHours.has(due) ? hourMs + hourLengthMs : nowMs()
        await observeUnusual(due, atMs, { ...this.#options, ...toPresent([due], observed) })
        this.#unusualHours.set(due, hourMs)
      } catch (error) {
        this.#unusualFromMs = performance.now() + suspectsRetryMs
        if (!signal.aborted) log.warn({ err: error, rule: due.id }, 'rules on unusual values postponed')
      }
    })
  }

  async #untilShown(): Promise<void> {
    const isShown = this.#options.markTaken()
    while (!isShown()) await sleep(shownPollMs, undefined, { signal: this.#options.signal })
  }

  /** What goes on beside has ended. */
  async close(): Promise<void> {
    await Promise.all([this.#days.ended(), this.#suspects.ended(), this.#unusual.ended()])
  }
}

/** A rule that has changed meanwhile is told nothing of what was found for the one before. */
function toPresent(
  due: readonly Rule[],
  { run, rules, coverage }: Observed,
): Pick<Observed, 'coverage'> & { run: Pick<EngineRun, 'observe'> } {
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
