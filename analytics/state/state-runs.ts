/**
 * The states of a door, a pump or a mode over time. A state holds until the next sample, but not longer than readings
 * are due: over an interval longer than G, a gap, it holds for E, as downtime begins there, and is unknown for the
 * rest. States have no mean.
 */

import { presentOf, type Samples } from '../present.ts'
import { type Cadence, type CadenceStretch, StretchCursor } from '../reliability/cadence.ts'
import { expectedDefaultSeconds } from '../reliability/freshness.ts'
import { gapIntervals } from '../reliability/interval-estimate.ts'

/** States are the whole numbers from 0 to this one. A boolean is 0 or 1. */
export const stateMax = 255
/** Marks an unknown state in the columns of runs. */
export const unknownState = -1

export interface StateInput extends Samples {
  readonly cadence: Cadence
  /** The last state may hold up to here; not before the last sample. */
  readonly nowMs: number
  /**
   * The longest hold of a state, in place of the cadence's rule: a door that reports only its changes keeps its state
   * for days.
   */
  readonly holdMaxMs?: number
}

/** Columns of equal length: stretches of one state, known or unknown, from the first sample to now without a break. */
export interface StateRuns {
  /** Ascending; each run ends where the next one begins, and none is empty. */
  readonly startsMs: Float64Array
  readonly states: Int16Array
  /** Now: the end of the last run. */
  readonly endMs: number
  /** Times of the samples that show another state than the sample before them, even after a gap, and both states. */
  readonly changesMs: Float64Array
  readonly changedFrom: Int16Array
  readonly changedTo: Int16Array
  /** Valid samples, and invalid ones outside the whole numbers from 0 to 255, after which the state is unknown. */
  readonly count: number
  readonly refused: number
}

/** Samples have ascending times, with NaN for missing ones. */
export function stateRuns(input: StateInput): StateRuns {
  const { timesMs, values } = presentOf(input.timesMs, input.values)
  const columns = new RunColumns(timesMs.length)
  const cursor = new StretchCursor(holdsOf(input))
  let refused = 0
  for (let index = 0; index < timesMs.length; index++) {
    const timeMs = timesMs[index] as number
    const nextMs = timesMs[index + 1] ?? Math.max(timeMs, input.nowMs)
    const state = stateOf(values[index] as number)
    if (state === unknownState) refused++
    else columns.change(timeMs, state)
    const hold = cursor.at(timeMs) as CadenceStretch
    const knownMs = nextMs - timeMs <= hold.gapMs ? nextMs : timeMs + hold.expectedMs
    if (knownMs > timeMs && nextMs > timeMs) columns.run(timeMs, state)
    if (knownMs < nextMs) columns.run(knownMs, unknownState)
  }
  const endMs = Math.max(input.nowMs, timesMs.at(-1) ?? input.nowMs)
  return { ...columns.result(), endMs, count: timesMs.length - refused, refused }
}

/** Without a known interval a device is measured by 900 seconds, as in its freshness. */
function holdsOf({ cadence, holdMaxMs }: StateInput): readonly CadenceStretch[] {
  if (holdMaxMs !== undefined) return [always(holdMaxMs, holdMaxMs)]
  if (cadence.stretches.length > 0) return cadence.stretches
  const expectedMs = expectedDefaultSeconds * 1000
  return [always(expectedMs, gapIntervals * expectedMs)]
}

function always(expectedMs: number, gapMs: number): CadenceStretch {
  return { fromMs: Number.NEGATIVE_INFINITY, expectedMs, gapMs }
}

function stateOf(value: number): number {
  return Number.isInteger(value) && value >= 0 && value <= stateMax ? value : unknownState
}

/** Merges adjacent runs with the same state. */
class RunColumns {
  readonly #startsMs: Float64Array
  readonly #states: Int16Array
  #runs = 0
  readonly #changesMs: Float64Array
  readonly #from: Int16Array
  readonly #to: Int16Array
  #changes = 0
  #last = unknownState

  /** Each sample makes at most a run of its state and an unknown one. */
  constructor(samples: number) {
    this.#startsMs = new Float64Array(2 * samples)
    this.#states = new Int16Array(2 * samples)
    this.#changesMs = new Float64Array(samples)
    this.#from = new Int16Array(samples)
    this.#to = new Int16Array(samples)
  }

  run(startMs: number, state: number): void {
    if (this.#runs > 0 && this.#states[this.#runs - 1] === state) return
    this.#startsMs[this.#runs] = startMs
    this.#states[this.#runs++] = state
  }

  change(timeMs: number, state: number): void {
    if (this.#last !== unknownState && this.#last !== state) {
      this.#changesMs[this.#changes] = timeMs
      this.#from[this.#changes] = this.#last
      this.#to[this.#changes++] = state
    }
    this.#last = state
  }

  result(): Pick<StateRuns, 'startsMs' | 'states' | 'changesMs' | 'changedFrom' | 'changedTo'> {
    return {
      startsMs: this.#startsMs.slice(0, this.#runs),
      states: this.#states.slice(0, this.#runs),
      changesMs: this.#changesMs.slice(0, this.#changes),
      changedFrom: this.#from.slice(0, this.#changes),
      changedTo: this.#to.slice(0, this.#changes),
    }
  }
}
