/** Entry point of this folder: evaluates rules while this process is the one that does, and knows of rules and devices what changes. */

import type { Log } from '../../store/log.ts'
import { bounds } from '../core/bounds.ts'
import { metricOf } from '../core/condition.ts'
import type { Fact } from '../core/fact.ts'
import type { Rule } from '../core/rule.ts'
import { type BatteryDays, isOfDays, observeDays } from './battery-days.ts'
import { EngineRun, type EngineRunOptions } from './engine-run.ts'
import { observeFacts } from './facts.ts'
import { type HourlyOptions, lastFullHourMs, observeHour } from './hourly.ts'
import type { TakenReadings } from './reading-intake.ts'
import { type Coverage, RuleCoverage, type SelectingRule } from './rule-coverage.ts'

export interface EngineHostOptions
  extends Omit<EngineRunOptions, 'rules' | 'coverage' | 'failed' | 'applied' | 'monotonicMs' | 'live'> {
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>
  readonly live: EngineRunOptions['live'] & HourlyOptions['live']
  readonly leads: () => boolean
  readonly readRules: () => Promise<readonly Rule[]>
  /** Of those that are there: it tells of changes that nobody was told of. */
  readonly readVersions: () => Promise<readonly { id: number; version: number; enabled: boolean }[]>
  /** Has in memory what `devices.mayRead` asks of an account, and resolves to a text that changes with it. */
  readonly learnOwner: (account: number) => Promise<string>
  readonly facts: () => Promise<readonly Fact[]>
  readonly batteryDays: BatteryDays
  readonly pairsMax?: number
}

export interface EngineHost {
  /** Readings that became durable. */
  take(readings: TakenReadings, receiptMs: number): void
  /** Some did that it was not told. */
  missed(): void
  /** Rules have changed. */
  rulesChanged(): void
  /** Changes that are not committed yet. */
  backlog(): number
  /** Undefined while this process does not evaluate it. */
  coverageOf(rule: number): Coverage | undefined
  /** Whether there is room for the pairs of a rule, in place of one. */
  hasRoomFor(rule: SelectingRule, before: number | undefined): boolean
  state(): EngineHostState
  close(): Promise<void>
}

export interface EngineHostState {
  readonly isLive: boolean
  readonly pairs: number
  readonly backlog: number
  /** Readings that were left out while too many waited, since the start. */
  readonly dropped: number
  /** Alerts that came and went before they could be written. */
  readonly merged: number
}

const lookEveryMs = 1000
const versionsEveryMs = 60_000
const factsEveryMs = 10_000
const daysEveryMs = 6 * 3_600_000
const daysRetryMs = 600_000
/** Devices whose cadence is told anew in a second. */
const factsPerLook = 5000

export function createEngineHost(options: EngineHostOptions): EngineHost {
  const host = new Host(options)
  return {
    take: (readings, receiptMs) => host.take(readings, receiptMs),
    missed: () => host.missed(),
    rulesChanged: () => host.rulesChanged(),
    backlog: () => host.backlog(),
    coverageOf: rule => host.coverageOf(rule),
    hasRoomFor: (rule, before) => host.hasRoomFor(rule, before),
    state: () => host.state(),
    close: () => host.close(),
  }
}

class Host {
  readonly #options: EngineHostOptions
  readonly #closing = new AbortController()
  readonly #rules = new Map<number, Rule>()
  /** What the owner of a rule could read when its devices were selected. */
  readonly #readBy = new Map<number, string>()
  #coverage: RuleCoverage
  #run: EngineRun | undefined
  #hasChanged = true
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  #isLooking = false
  readonly #last = { versionsMs: 0, factsMs: 0, hourMs: Number.NaN, ruleAt: 0, deviceAt: 0 }
  /** When rules on the days that batteries have left were evaluated. */
  readonly #daysMs = new Map<number, number>()
  #isComputing = false
  #computing: Promise<void> = Promise.resolve()
  #dropped = 0
  #merged = 0

  constructor(options: EngineHostOptions) {
    this.#options = options
    this.#coverage = new RuleCoverage(options.devices, options.pairsMax)
    options.devices.onChange((device, isRemoved) => {
      for (const [id, change] of this.#coverage.deviceChanged(device, isRemoved)) {
        this.#run?.coverageChanged(this.#rules.get(id) as Rule, change)
      }
    })
    this.#timer = setInterval(() => this.#look(), lookEveryMs)
    this.#look()
  }

  take(readings: TakenReadings, receiptMs: number): void {
    this.#run?.take(readings, receiptMs)
  }

  missed(): void {
    this.#run?.missed()
  }

  rulesChanged(): void {
    this.#hasChanged = true
    this.#look()
  }

  backlog(): number {
    return this.#run?.backlog ?? 0
  }

  coverageOf(rule: number): Coverage | undefined {
    return this.#coverage.of(rule)
  }

  hasRoomFor(rule: SelectingRule, before: number | undefined): boolean {
    const { pairsMax = bounds.pairsMax } = this.#options
    const other = this.#coverage.pairCount - (before === undefined ? 0 : (this.#coverage.of(before)?.covered ?? 0))
    return other + this.#coverage.countOf(rule) <= pairsMax
  }

  state(): EngineHostState {
    const run = this.#run
    return {
      isLive: run?.isLive ?? false,
      pairs: run?.state.pairs ?? 0,
      backlog: this.backlog(),
      dropped: this.#dropped + (run?.dropped ?? 0),
      merged: this.#merged + (run?.state.merged ?? 0),
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
    if (!this.#options.leads()) {
      await this.#end(false)
      return
    }
    await this.#lookForChanges()
    if (this.#hasChanged) await this.#readRules()
    if (this.#closing.signal.aborted) return
    if (this.#rules.size === 0) await this.#end(true)
    else if (this.#run === undefined) this.#begin()
    else await this.#observe(this.#run)
  }

  #begin(): void {
    const failed = (error: Error) => {
      this.#options.log.error({ err: error }, 'the evaluation of alerts has ended; it begins again')
      void this.#end(false)
    }
    const applied = (unknownRules: readonly number[]) => {
      if (unknownRules.length > 0) this.rulesChanged()
    }
    const monotonicMs = () => performance.now()
    const { rules, coverage } = { rules: this.#rules, coverage: this.#coverage }
    this.#run = new EngineRun({ ...this.#options, rules, coverage, applied, failed, monotonicMs })
  }

  /** What is in memory of rules goes too: another process may change them from now on. */
  async #end(isLeading: boolean): Promise<void> {
    const run = this.#run
    this.#run = undefined
    if (!isLeading) {
      this.#rules.clear()
      this.#coverage = new RuleCoverage(this.#options.devices, this.#options.pairsMax)
      this.#hasChanged = true
    }
    if (run === undefined) return
    await run.close(isLeading)
    this.#dropped += run.dropped
    this.#merged += run.state.merged
  }

  async #lookForChanges(): Promise<void> {
    const now = performance.now()
    if (this.#hasChanged || now - this.#last.versionsMs < versionsEveryMs) return
    this.#last.versionsMs = now
    const versions = (await this.#options.readVersions()).filter(({ enabled }) => enabled)
    const isSame = versions.every(({ id, version }) => this.#rules.get(id)?.version === version)
    this.#hasChanged ||= !isSame || versions.length !== this.#rules.size
  }

  async #readRules(): Promise<void> {
    this.#hasChanged = false
    try {
      const rules = new Map((await this.#options.readRules()).map(rule => [rule.id, rule]))
      if (this.#closing.signal.aborted) return
      for (const [id] of this.#rules) {
        const rule = rules.get(id)
        if (rule === undefined || !rule.enabled)
          this.#removeRule(id, rule === undefined ? 'rule_removed' : 'rule_disabled')
      }
      for (const rule of rules.values()) if (rule.enabled) await this.#setRule(rule)
    } catch (error) {
      this.#hasChanged = true
      throw error
    }
  }

  #removeRule(id: number, reason: 'rule_removed' | 'rule_disabled' | 'rule_changed'): void {
    this.#coverage.removeRule(id)
    this.#rules.delete(id)
    this.#readBy.delete(id)
    this.#daysMs.delete(id)
    this.#run?.removeRule(id, reason)
  }

  async #setRule(rule: Rule): Promise<void> {
    const before = this.#rules.get(rule.id)
    if (before !== undefined && JSON.stringify(before) === JSON.stringify(rule)) return
    if (before !== undefined && !isAlike(before, rule)) this.#removeRule(rule.id, 'rule_changed')
    if (rule.owner !== null) this.#readBy.set(rule.id, await this.#options.learnOwner(rule.owner))
    // A selection of many devices takes some milliseconds.
    await new Promise(resolve => setImmediate(resolve))
    this.#rules.set(rule.id, rule)
    const change = this.#coverage.setRule(rule)
    this.#run?.setRule(rule, change)
  }

  async #observe(run: EngineRun): Promise<void> {
    await this.#selectAgain(run)
    if (!run.isLive) return
    const { facts, nowMs, live } = this.#options
    const rules = [...this.#rules.values()]
    const now = performance.now()
    if (now - this.#last.factsMs >= factsEveryMs && rules.some(({ condition }) => condition.kind === 'service')) {
      this.#last.factsMs = now
      observeFacts(run, rules, await facts(), nowMs())
    }
    this.#observeBatteries(run, rules)
    const hourMs = lastFullHourMs(nowMs())
    if (hourMs === this.#last.hourMs) return
    this.#last.hourMs = hourMs
    if (run.lastOutageMs >= hourMs) return
    await observeHour(hourMs, { run, rules, coverage: this.#coverage, live, signal: this.#closing.signal })
  }

  /** Beside all else: of many devices it takes minutes. */
  #observeBatteries(run: EngineRun, rules: readonly Rule[]): void {
    if (this.#isComputing) return
    const now = performance.now()
    const due = rules.find(
      rule => isOfDays(rule) && !((this.#daysMs.get(rule.id) ?? Number.NEGATIVE_INFINITY) > now - daysEveryMs),
    )
    if (due === undefined) return
    this.#isComputing = true
    const parts = { run, coverage: this.#coverage, signal: this.#closing.signal }
    this.#computing = observeDays(due, { ...this.#options, ...parts })
      .then(
        () => this.#daysMs.set(due.id, now),
        error => {
          this.#daysMs.set(due.id, now - daysEveryMs + daysRetryMs)
          if (!this.#closing.signal.aborted)
            this.#options.log.warn({ err: error, rule: due.id }, 'a rule on batteries waits')
        },
      )
      .then(() => {
        this.#isComputing = false
      })
  }

  /** One rule a second, since what its owner may read changes without a word, as do the cadences of devices. */
  async #selectAgain(run: EngineRun): Promise<void> {
    const ids = [...this.#rules.keys()]
    const id = ids[this.#last.ruleAt % ids.length]
    if (id === undefined) return
    const rule = this.#rules.get(id) as Rule
    if (this.#last.deviceAt === 0) {
      const readable = rule.owner === null ? '' : await this.#options.learnOwner(rule.owner)
      // It may have gone meanwhile.
      if (this.#rules.get(id) !== rule || this.#run !== run) return
      // There may be room for more pairs.
      const isStale = (this.#readBy.get(id) ?? '') !== readable || this.#coverage.of(id)?.isWhole === false
      if (isStale) run.coverageChanged(rule, this.#coverage.setRule(rule))
      this.#readBy.set(id, readable)
    }
    const devices = this.#coverage.devicesOf(id).slice(this.#last.deviceAt, this.#last.deviceAt + factsPerLook)
    run.refresh(rule, devices)
    this.#last.deviceAt += factsPerLook
    if (devices.length === factsPerLook) return
    this.#last.deviceAt = 0
    this.#last.ruleAt++
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await this.#looking
    await this.#computing
    await this.#end(this.#options.leads())
  }
}

/** Whether what fires of the one may go on firing for the other. */
function isAlike(a: Rule, b: Rule): boolean {
  return a.condition.kind === b.condition.kind && metricOf(a.condition) === metricOf(b.condition) && a.owner === b.owner
}
