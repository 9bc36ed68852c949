/** Uncommitted transitions, merged to one for each pair. One without effects records that a phase has lasted. */

import { type PairState, withoutValues } from '../core/pair.ts'
import type { Effect } from '../core/transition.ts'
import type { Transition } from '../store/apply.ts'

const idle = 'idle'

/** State that stored readings do not show after a restart: phase, its beginning, and the last changes of a flapping pair. */
function marksOf({ phase, sinceMs, flapping, changesMs }: PairState): string {
  return phase === 'idle' && !flapping ? idle : `${phase} ${sinceMs} ${changesMs.at(-1)}`
}

interface Waiting extends Transition {
  effects: Effect[]
  notBeforeMs: number
  /** True if the transition is written even though the phase of the pair is unchanged. */
  isRemembered: boolean
}

/** A phase that has lasted for less costs no transaction: a restart finds it again in the stored readings. */
const phaseMsMin = 5000
/** Most waiting effects of a pair while PostgreSQL is unavailable. */
const effectsMax = 24
/** Rules and devices of one number. */
const devicesMax = 2 ** 32

export class TransitionQueue {
  readonly #waiting = new Map<number, Waiting>()
  /** States at the last batch; idle without an entry. */
  readonly #taken = new Map<number, string>()
  #merged = 0

  get length(): number {
    return this.#waiting.size
  }

  /** Alerts that came and went before they could be written. */
  get merged(): number {
    return this.#merged
  }

  /** States read from the last run. */
  restored(rule: number, device: number, state: PairState): void {
    this.#setTaken(keyOf(rule, device), state)
  }

  #setTaken(key: number, state: PairState): void {
    const marks = marksOf(state)
    if (marks === idle) this.#taken.delete(key)
    else this.#taken.set(key, marks)
  }

  note(transition: Transition, nowMs: number): void {
    const key = keyOf(transition.rule, transition.device)
    const before = this.#waiting.get(key)
    const effects = this.#withoutMiddle(withoutDropped([...(before?.effects ?? []), ...transition.effects]))
    const isRemembered = before?.isRemembered ?? false
    if (effects.length === 0 && !isRemembered && marksOf(transition.state) === (this.#taken.get(key) ?? idle)) {
      this.#waiting.delete(key)
      return
    }
    const isUrgent = effects.some(({ kind }) => kind !== 'opened')
    const notBeforeMs = isUrgent ? Number.NEGATIVE_INFINITY : (before?.notBeforeMs ?? nowMs + phaseMsMin)
    this.#waiting.set(key, { ...transition, effects, notBeforeMs, isRemembered })
  }

  /** Queues the time of the last evaluated reading of a pair for writing. */
  remember(transition: Transition): void {
    const key = keyOf(transition.rule, transition.device)
    const { effects = [] } = this.#waiting.get(key) ?? {}
    this.#waiting.set(key, { ...transition, effects, notBeforeMs: Number.NEGATIVE_INFINITY, isRemembered: true })
  }

  /** Due transitions in the order of their arrival. With `all`, also short phases. */
  take(countMax: number, nowMs: number, all = false): Transition[] {
    const taken: Transition[] = []
    for (const [key, { notBeforeMs, isRemembered: _, ...transition }] of this.#waiting) {
      if (taken.length === countMax) break
      if (!all && notBeforeMs > nowMs) continue
      this.#waiting.delete(key)
      this.#setTaken(key, transition.state)
      taken.push(transition)
    }
    return taken
  }

  /** Removes values from waiting transitions of these devices; with a metric, only in its rules. */
  eraseValues(devices: ReadonlySet<number>, erasedMetric: string | null): void {
    for (const [key, waiting] of this.#waiting) {
      const { device, metric, effects, state } = waiting
      if (!devices.has(device) || (erasedMetric !== null && metric !== erasedMetric)) continue
      const valueless = effects.map(effect => ('value' in effect ? { ...effect, value: Number.NaN } : effect))
      this.#waiting.set(key, { ...waiting, effects: valueless, state: withoutValues(state) })
    }
  }

  isDue(nowMs: number): boolean {
    for (const { notBeforeMs } of this.#waiting.values()) if (notBeforeMs <= nowMs) return true
    return false
  }

  /** Alerts that both came and went are left out where a pair has too many. */
  #withoutMiddle(effects: Effect[]): Effect[] {
    if (effects.length <= effectsMax) return effects
    const from = effects.findIndex(({ kind }) => kind === 'opened')
    const last = effects.findLastIndex(({ kind }) => kind === 'opened')
    this.#merged += effects.slice(from, last).filter(({ kind }) => kind === 'opened').length
    return effects.toSpliced(from, last - from)
  }
}

function keyOf(rule: number, device: number): number {
  return rule * devicesMax + device
}

/** A pending alert that ended before it was written leaves no row. */
function withoutDropped(effects: Effect[]): Effect[] {
  const last = effects.length - 1
  const isWhole = effects[last]?.kind === 'dropped' && effects[last - 1]?.kind === 'opened'
  return isWhole ? effects.slice(0, -2) : effects
}
