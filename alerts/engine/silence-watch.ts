/**
 * Heap of deadlines at which time alone may change pairs of rules on silence. A reading does not move its deadline, as most devices
 * send long before: a passed deadline is computed again.
 */

import { Deadlines } from '../../query/live/deadlines.ts'
import type { Observation, PairState } from '../core/pair.ts'
import { noDevice, type RuleCore } from '../core/rule.ts'
import { stillFromMs } from '../core/transition.ts'
import type { CoveredDevice, CoveredPair, SiteState } from './covered-pairs.ts'

export class SilenceWatch {
  readonly #deadlines = new Deadlines<CoveredPair>()
  #outageEndMs = Number.NEGATIVE_INFINITY
  #isOut = false
  #hasSiteChanged = false

  /** No silence is due during an outage. Afterwards readings have time to come. */
  outage(isOut: boolean, nowMs: number): void {
    if (this.#isOut && !isOut) this.#outageEndMs = Math.max(this.#outageEndMs, nowMs)
    this.#isOut = isOut
  }

  /** Our clock was set, and says this now. */
  clockStepped(nowMs: number): void {
    this.#outageEndMs = nowMs
  }

  added(pair: CoveredPair): void {
    if (isOfSite(pair)) {
      pair.of.site.devices++
      setSite(pair, this.#siteStateOf(pair.device))
    }
    this.schedule(pair)
  }

  removed(pair: CoveredPair): void {
    this.#deadlines.set(pair, Number.POSITIVE_INFINITY)
    if (!isOfSite(pair)) return
    setSite(pair, 'alive')
    pair.of.site.devices--
  }

  #siteStateOf({ lastMs }: CoveredDevice): SiteState {
    return lastMs < this.#outageEndMs ? 'unknown' : 'alive'
  }

  /** The last reading of the device became known. */
  learned(pair: CoveredPair): void {
    if (isOfSite(pair)) setSite(pair, this.#siteStateOf(pair.device))
  }

  /** A new reading of a device ends its silence in a site. By the first one its deadlines become known. */
  received({ pairs }: CoveredDevice, isFirst: boolean): void {
    for (const pair of pairs) {
      const isBack = pair.site !== 'alive'
      this.#hasSiteChanged ||= isBack
      if (isBack) setSite(pair, 'alive')
      if (isBack || isFirst) this.schedule(pair)
    }
  }

  /**
   * Returns the time at which the device of the pair counts as silent: so long after its last reading, or after the
   * first one due since an outage of ours. Infinity without a reading, or while the device does not log.
   */
  dueMs({ of, device: { lastMs, lateMs, freshMs } }: CoveredPair): number {
    if (Number.isNaN(lastMs) || lateMs === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY
    const { condition } = of.rule.core
    const seconds = 'after_seconds' in condition ? condition.after_seconds : undefined
    return Math.max(lastMs, this.#outageEndMs + freshMs) + (seconds === undefined ? lateMs : seconds * 1000)
  }

  /** Sets the time at which time alone changes the pair next, if ever. */
  schedule(pair: CoveredPair): void {
    const { core } = pair.of.rule
    if (core.condition.kind === 'silent') this.setDeadline(pair, nextLookMs(core, pair.state, this.dueMs(pair)))
    else if (isOfSite(pair))
      this.setDeadline(pair, pair.site === 'silent' ? Number.POSITIVE_INFINITY : this.dueMs(pair))
    else if (core.condition.kind === 'site_silent') this.setDeadline(pair, nextSiteLookMs(core, pair.state))
  }

  setDeadline(pair: CoveredPair, timeMs: number): void {
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

  /** The due pair. Undefined for a site or one of its devices, as sites are evaluated after all deadlines. */
  take(nowMs: number): CoveredPair | undefined {
    const pair = this.#deadlines.next() as CoveredPair
    if (pair.of.rule.core.condition.kind === 'silent') return pair
    if (isOfSite(pair)) {
      if (this.dueMs(pair) <= nowMs) setSite(pair, 'silent')
      this.schedule(pair)
    } else this.setDeadline(pair, Number.POSITIVE_INFINITY)
    return undefined
  }

  /** The observation of a site. Undefined while unknown devices could change the result. */
  siteOf({ of }: CoveredPair, nowMs: number): Observation | undefined {
    const { condition } = of.rule.core
    if (this.#isOut || condition.kind !== 'site_silent') return undefined
    const { count, share } = condition
    const { silent, unknown, devices } = of.site
    const isBeyond = (number: number) => devices > 0 && number >= count && number / devices > share
    if (isBeyond(silent) !== isBeyond(silent + unknown)) return undefined
    return { kind: 'site', nowMs, silent, devices }
  }
}

/** The pair of a device, not the alerting one of the site. */
function isOfSite({ of, device }: CoveredPair): boolean {
  return of.rule.core.condition.kind === 'site_silent' && device.number !== noDevice
}

function setSite(pair: CoveredPair, state: SiteState): void {
  const { site } = pair.of
  if (pair.site !== 'alive') site[pair.site]--
  if (state !== 'alive') site[state]++
  pair.site = state
}

/** Returns the time at which time alone changes a pair of a rule on silence. The pair becomes silent at `dueMs`. */
export function nextLookMs({ for_seconds }: RuleCore, state: PairState | undefined, dueMs: number): number {
  switch (state?.phase ?? 'idle') {
    case 'pending':
      return dueMs + for_seconds * 1000
    case 'firing':
      return state?.flapping ? stillFromMs(state.changesMs) : Number.POSITIVE_INFINITY
    default:
      return dueMs
  }
}

/** Time at which the alert of a site changes without a change of its devices. */
function nextSiteLookMs({ for_seconds, keep_firing_seconds }: RuleCore, state: PairState | undefined): number {
  if (state?.phase === 'pending') return state.sinceMs + for_seconds * 1000
  const stillMs = state?.flapping ? stillFromMs(state.changesMs) : Number.POSITIVE_INFINITY
  return state?.phase === 'clearing' ? Math.min(stillMs, state.sinceMs + keep_firing_seconds * 1000) : stillMs
}
