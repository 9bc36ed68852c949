/** Brings the engine's thread to the present: by the states of the last run, and by the readings that were stored since. */

import { bounds } from '../core/bounds.ts'
import { metricOf } from '../core/condition.ts'
import type { Rule } from '../core/rule.ts'
import type { EngineHandle } from './engine-handle.ts'
import type { RestoredPair } from './engine-messages.ts'
import type { PackedReadings } from './packed-readings.ts'
import type { Patience } from './patience.ts'
import { lastReadings, type ReplayParts, storedReadings } from './replay.ts'
import { replayPlans } from './replay-plan.ts'
import type { RuleCoverage } from './rule-coverage.ts'
import { isOfValues } from './value-columns.ts'
import type { Replay } from './value-watch.ts'

export interface StoredReplayOptions extends ReplayParts {
  /** Whether QuestDB answers, and the state of the fleet is known. */
  readonly isSettled: () => boolean
  /** Of all readings that were taken up to now: whether QuestDB shows them. */
  readonly markTaken: () => () => boolean
  readonly store: { readonly readPairs: () => AsyncIterable<readonly RestoredPair[]> }
  readonly rules: ReadonlyMap<number, Rule>
  readonly coverage: RuleCoverage
}

export interface StoredReplayParts {
  readonly thread: Pick<EngineHandle, 'post' | 'settled'>
  readonly patience: Patience
  readonly signal: AbortSignal
}

const dayMs = 86_400_000

export class StoredReplay {
  readonly #options: StoredReplayOptions
  readonly #parts: StoredReplayParts

  constructor(options: StoredReplayOptions, parts: StoredReplayParts) {
    this.#options = options
    this.#parts = parts
  }

  async restoreStates(): Promise<void> {
    const { patience, thread } = this.#parts
    await patience.retried(async () => {
      for await (const pairs of this.#options.store.readPairs()) thread.post({ kind: 'restore', pairs })
    })
  }

  /** What was received since then, as soon as QuestDB shows all that was taken. */
  async since(sinceMs: number): Promise<void> {
    const { nowMs, isSettled, markTaken } = this.#options
    const { patience } = this.#parts
    const isShown = markTaken()
    await patience.until(() => isSettled() && isShown())
    // Our clock may have been set back meanwhile.
    const fromMs = Math.min(Math.max(sinceMs, nowMs() - dayMs), nowMs()) - bounds.replaySlackMs
    await patience.retried(() => this.#from(fromMs))
  }

  async #from(fromMs: number): Promise<void> {
    const { rules, coverage, nowMs } = this.#options
    // Clocks may be ahead.
    for (const plan of replayPlans(rules.values(), id => coverage.devicesOf(id), { fromMs, toMs: nowMs() + dayMs })) {
      await this.#replay(lastReadings(plan, this.#options), { fromMs: nowMs() })
      await this.#replay(storedReadings(plan, this.#options, this.#parts.signal), { warmBeforeUs: fromMs * 1000 })
    }
  }

  /** By a rule that is new for these devices, the last reading of each is evaluated as of now. */
  async lastOf(rule: Rule, devices: readonly number[]): Promise<void> {
    const metric = isOfValues(rule) ? metricOf(rule.condition) : undefined
    if (metric === undefined) return
    const nowMs = this.#options.nowMs()
    const plan = { devices, metrics: [metric], fromMs: Number.POSITIVE_INFINITY, toMs: nowMs }
    await this.#replay(lastReadings(plan, this.#options), { rules: new Set([rule.id]), fromMs: nowMs })
  }

  async #replay(readings: AsyncIterable<PackedReadings>, replay: Partial<Replay> = {}): Promise<void> {
    const { thread } = this.#parts
    for await (const packed of readings) {
      thread.post({ kind: 'replay', packed, warmBeforeUs: Number.NEGATIVE_INFINITY, ...replay })
      await thread.settled()
    }
  }
}
