/** Feeds rules on completeness with the share of each full hour, some minutes after its end. */

import { setImmediate as turn } from 'node:timers/promises'
import type { Live } from '../../query/live/live.ts'
import type { Rule } from '../core/rule.ts'
import type { EngineRun } from './engine-run.ts'
import type { RuleCoverage } from './rule-coverage.ts'

export interface HourlyOptions {
  readonly run: Pick<EngineRun, 'observe'>
  readonly rules: Iterable<Rule>
  readonly coverage: Pick<RuleCoverage, 'devicesOf'>
  readonly live: Pick<Live, 'hourShareOf'>
  readonly signal: AbortSignal
}

const hourMs = 3_600_000
/** Readings of its end may be on their way. */
const afterMs = 300_000
const devicesPerTurn = 1000

/** Begin of the last hour that can be observed. */
export function lastFullHourMs(nowMs: number): number {
  return Math.floor((nowMs - afterMs) / hourMs) * hourMs - hourMs
}

export async function observeHour(hourBeginMs: number, options: HourlyOptions): Promise<void> {
  const { run, rules, coverage, live, signal } = options
  for (const { id, condition } of rules) {
    if (condition.kind !== 'completeness') continue
    for (const [index, device] of coverage.devicesOf(id).entries()) {
      if (index % devicesPerTurn === devicesPerTurn - 1) await turn()
      if (signal.aborted) return
      const share = Math.min(1, live.hourShareOf(device, hourBeginMs))
      run.observe(id, device, { kind: 'hour', hourMs: hourBeginMs + hourMs, share })
    }
  }
}
