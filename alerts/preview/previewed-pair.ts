/** A rule on one device, three times: as it is, with half and with twice its duration. */

import type { Observation } from '../core/observation.ts'
import { idlePair, isOpen, type PairState } from '../core/pair.ts'
import type { RuleCore } from '../core/rule.ts'
import { staysIdle, step } from '../core/transition.ts'
import { type FiringRange, Firings } from './firings.ts'

export type RuleVariants = readonly [asIs: RuleCore, half: RuleCore, twice: RuleCore]

export function variantsOf(rule: RuleCore): RuleVariants {
  const lasting = (factor: number): RuleCore => ({ ...rule, for_seconds: factor * rule.for_seconds })
  return [rule, lasting(0.5), lasting(2)]
}

export class PreviewedPair {
  readonly #rules: RuleVariants
  readonly #states: PairState[]
  readonly firings: readonly [asIs: Firings, half: Firings, twice: Firings]
  #isIdle = true

  constructor(rules: RuleVariants, range: FiringRange) {
    this.#rules = rules
    this.#states = rules.map(() => idlePair)
    this.firings = [new Firings(range), new Firings(range), new Firings(range)]
  }

  /** Whether no variant has an alert, and none compares with values of before. */
  get isIdle(): boolean {
    return this.#isIdle
  }

  /** The first of what this says of each variant. */
  nextMs(nextOf: (rule: RuleCore, state: PairState) => number): number {
    return Math.min(...this.#rules.map((rule, at) => nextOf(rule, this.#states[at] as PairState)))
  }

  take(observation: Observation): void {
    // Most observations are such, and what decides it does not depend on the duration.
    if (this.#isIdle && staysIdle(this.#rules[0], observation)) return
    let isIdle = true
    for (let at = 0; at < this.#rules.length; at++) {
      const { state, effects } = step(this.#rules[at] as RuleCore, this.#states[at] as PairState, observation)
      this.#states[at] = state
      if (effects.length > 0) this.firings[at]?.take(effects)
      isIdle &&= !isOpen(state) && state.samples === undefined
    }
    this.#isIdle = isIdle
  }

  end(): void {
    for (const firings of this.firings) firings.end()
  }
}
