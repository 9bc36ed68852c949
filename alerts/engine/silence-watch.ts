/**
 * Which pairs of rules on silence time alone may change, and when: a heap of deadlines. A reading moves none of them, as most
 * devices are heard long before: one that has passed is computed again.
 */

import { Deadlines } from '../../query/live/deadlines.ts'
import type { Observation } from '../core/observation.ts'
import type { PairState } from '../core/pair.ts'
import { noDevice } from '../core/rule.ts'
import type { DeviceTimes } from './device-times.ts'
import type { EngineRule } from './engine-rule.ts'
import type { PairTable } from './pair-table.ts'
import { nextLookMs, nextSiteLookMs, silentFromMs } from './silence-deadlines.ts'
import { alive, SiteCounts, silent, unknown } from './site-counts.ts'

export class SilenceWatch {
  readonly #pairs: PairTable
  readonly #times: DeviceTimes
  /** Of a pair. */
  readonly #ruleOf: (pair: number) => EngineRule
  readonly #deadlines = new Deadlines()
  readonly #sites = new SiteCounts()
  #outageEndMs = Number.NEGATIVE_INFINITY
  #isOut = false
  #hasSiteChanged = false

  constructor(pairs: PairTable, times: DeviceTimes, ruleOf: (pair: number) => EngineRule) {
    this.#pairs = pairs
    this.#times = times
    this.#ruleOf = ruleOf
  }

  /** While it goes on, no silence is due; afterwards readings have time to come. */
  outage(isOut: boolean, nowMs: number): void {
    if (this.#isOut && !isOut) this.#outageEndMs = Math.max(this.#outageEndMs, nowMs)
    this.#isOut = isOut
  }

  /** Our clock was set, and says this now. */
  clockStepped(nowMs: number): void {
    this.#outageEndMs = nowMs
  }

  #isOfSite(pair: number): boolean {
    return this.#ruleOf(pair).core.condition.kind === 'site_silent' && this.#pairs.deviceOf(pair) !== noDevice
  }

  added(pair: number): void {
    if (this.#isOfSite(pair)) this.#sites.add(this.#pairs.ruleOf(pair), pair, this.#flagOf(pair))
    this.schedule(pair, undefined)
  }

  removed(pair: number): void {
    this.#deadlines.set(pair, Number.POSITIVE_INFINITY)
    if (this.#isOfSite(pair)) this.#sites.remove(this.#pairs.ruleOf(pair), pair)
  }

  ruleRemoved(place: number): void {
    this.#sites.removeRule(place)
  }

  /** Its device was not heard since we were away ourselves, or it was. */
  #flagOf(pair: number): number {
    const lastMs = this.#times.lastMs[this.#slotOf(pair)] as number
    return lastMs < this.#outageEndMs ? unknown : alive
  }

  /** It became known when the device was heard for the first time. */
  learned(pair: number): void {
    if (this.#isOfSite(pair)) this.#sites.set(this.#pairs.ruleOf(pair), pair, this.#flagOf(pair))
  }

  /** A new reading of a device: in its sites it is silent no longer. By its first one it becomes known when it will be. */
  heard(slot: number, isFirst: boolean): void {
    for (let pair = this.#pairs.firstOf(slot); pair >= 0; pair = this.#pairs.nextOf(pair)) {
      const isBack = this.#isOfSite(pair) && this.#sites.flagOf(pair) !== alive
      this.#hasSiteChanged ||= isBack
      if (isBack) this.#sites.set(this.#pairs.ruleOf(pair), pair, alive)
      if (isBack || isFirst) this.schedule(pair, undefined)
    }
  }

  /** From when on the device of the pair counts as silent. */
  dueMs(pair: number): number {
    return silentFromMs(this.#ruleOf(pair).core, this.#times, this.#slotOf(pair), this.#outageEndMs)
  }

  /** When time alone changes the pair next, if ever. */
  schedule(pair: number, state: PairState | undefined): void {
    const { core } = this.#ruleOf(pair)
    if (core.condition.kind === 'silent') this.#deadlines.set(pair, nextLookMs(core, state, this.dueMs(pair)))
    else if (this.#isOfSite(pair)) {
      const isCounted = this.#sites.flagOf(pair) === silent
      this.#deadlines.set(pair, isCounted ? Number.POSITIVE_INFINITY : this.dueMs(pair))
    } else if (core.condition.kind === 'site_silent') this.#deadlines.set(pair, nextSiteLookMs(core, state))
  }

  lookAgain(pair: number, timeMs: number): void {
    this.#deadlines.set(pair, timeMs)
  }

  /** Infinity when time alone changes nothing, -Infinity when a site is to be evaluated. */
  nextMs(): number {
    return this.#hasSiteChanged ? Number.NEGATIVE_INFINITY : this.#deadlines.nextMs()
  }

  sitesEvaluated(): void {
    this.#hasSiteChanged = false
  }

  isDue(nowMs: number): boolean {
    return !this.#isOut && this.#deadlines.nextMs() <= nowMs
  }

  /** The pair that is due; -1 for one of a site or of its devices: sites are evaluated after all deadlines. */
  take(nowMs: number): number {
    const pair = this.#deadlines.nextSlot()
    if (this.#ruleOf(pair).core.condition.kind === 'silent') return pair
    if (!this.#isOfSite(pair)) {
      this.#deadlines.set(pair, Number.POSITIVE_INFINITY)
      return -1
    }
    if (this.dueMs(pair) <= nowMs) this.#sites.set(this.#pairs.ruleOf(pair), pair, silent)
    this.schedule(pair, undefined)
    return -1
  }

  /** What is to be said of a site; undefined as long as it is not certain: devices may be silent, or not heard yet. */
  siteOf(pair: number, nowMs: number): Observation | undefined {
    const { condition } = this.#ruleOf(pair).core
    if (this.#isOut || condition.kind !== 'site_silent') return undefined
    const { count, share } = condition
    const { silent: least, unknown: more, devices } = this.#sites.of(this.#pairs.ruleOf(pair))
    const isBeyond = (number: number) => devices > 0 && number >= count && number / devices > share
    if (isBeyond(least) !== isBeyond(least + more)) return undefined
    return { kind: 'site', nowMs, silent: least, devices }
  }

  #slotOf(pair: number): number {
    return this.#pairs.slotOf(this.#pairs.deviceOf(pair))
  }
}
