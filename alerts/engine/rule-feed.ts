/** Posts rules, the devices that each covers and facts about these to the engine's thread. */

import type { DeviceSilence } from '../../query/live/device-state.ts'
import type { Live } from '../../query/live/live.ts'
import { metricOf } from '../core/condition.ts'
import type { AlertDevices } from '../core/devices.ts'
import type { EndReason } from '../core/pair.ts'
import type { Rule } from '../core/rule.ts'
import { customColumn, customSeriesOf, type DeviceFacts, engineRuleOf } from './covered-pairs.ts'
import type { EngineHandle } from './engine-handle.ts'
import type { ReadingIntake } from './packed-readings.ts'
import type { CoverageChange } from './rule-coverage.ts'

interface RuleFeedOptions {
  readonly thread: Pick<EngineHandle, 'post'>
  readonly intake: Pick<ReadingIntake, 'oldest'>
  readonly devices: AlertDevices
  readonly live: Pick<Live, 'silenceOf'>
  readonly nowMs: () => number
}

const factsPerMessage = 2000

export class RuleFeed {
  readonly #options: RuleFeedOptions

  constructor(options: RuleFeedOptions) {
    this.#options = options
  }

  rule(rule: Rule): void {
    this.#options.thread.post({ kind: 'rule', rule: engineRuleOf(rule) })
  }

  removal(id: number, reason: EndReason): void {
    this.#options.thread.post({ kind: 'removeRule', id, reason, nowMs: this.#options.nowMs() })
  }

  coverage(rule: Rule, { added, removed, reason }: CoverageChange): void {
    const { thread, nowMs } = this.#options
    const { id } = rule
    if (removed.length > 0) thread.post({ kind: 'uncover', id, devices: removed, reason, nowMs: nowMs() })
    if (added.length === 0) return
    thread.post({ kind: 'cover', id, devices: added, series: this.#seriesOf(rule, added) })
  }

  #seriesOf(rule: Rule, devices: readonly number[]): readonly number[] | undefined {
    if (engineRuleOf(rule).column !== customColumn) return undefined
    const metric = metricOf(rule.condition) as string
    return devices.map(number => customSeriesOf(this.#options.devices, number, metric))
  }

  /** A device may have got a series for the rule's metric. */
  series(rule: Rule, devices: readonly number[]): void {
    const series = this.#seriesOf(rule, devices)
    if (series === undefined) return
    this.#options.thread.post({ kind: 'cover', id: rule.id, devices, series })
  }

  /** Passes on the time that these devices may be silent, by their present intervals. */
  facts(numbers: readonly number[]): void {
    const { live, nowMs, intake, thread } = this.#options
    const queued = intake.oldest()
    const now = nowMs()
    for (let from = 0; from < numbers.length; from += factsPerMessage) {
      const facts = numbers.slice(from, from + factsPerMessage).flatMap(number => {
        return deviceFactsOf(number, live.silenceOf(number), { nowMs: now, queuedUs: queued.get(number) }) ?? []
      })
      thread.post({ kind: 'devices', facts })
    }
  }
}

/**
 * No reading counts as received later than now: one that was is of before our clock was set back, and later ones are
 * not late after it. `queuedUs`: of the oldest reading of the device that is still in the intake. The live state knows
 * it already. Null for a device that is not there.
 */
export function deviceFactsOf(
  number: number,
  silence: DeviceSilence | undefined,
  { nowMs, queuedUs = Number.POSITIVE_INFINITY }: { nowMs: number; queuedUs?: number | undefined },
): DeviceFacts | null {
  if (silence === undefined) return null
  const { lastMs, lateSeconds, freshSeconds, isOff } = silence
  const seenUs = lastMs * 1000
  const isUnknown = seenUs >= queuedUs || lastMs > nowMs
  return {
    number,
    seenUs: isUnknown ? Number.NaN : seenUs,
    lastMs: Math.min(lastMs, nowMs),
    lateSeconds: isOff ? Number.POSITIVE_INFINITY : lateSeconds,
    freshSeconds,
  }
}
