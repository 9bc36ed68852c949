/** Feeds rules on unusual values with each full hour: the gauge's distance from its usual values. */

import type { AlertDevice, AlertDevices } from '../core/devices.ts'
import type { Rule } from '../core/rule.ts'
import type { EngineRun } from './engine-run.ts'
import type { RuleCoverage } from './rule-coverage.ts'

/**
 * Resolves to shifts by the number of the device; 0: not unusual. Devices without a verdict are missing. Rejects while it cannot be computed.
 */
export type UnusualShifts = (
  devices: readonly AlertDevice[],
  metric: string,
  signal: AbortSignal,
) => Promise<ReadonlyMap<number, number>>

export interface UnusualHoursOptions {
  readonly run: Pick<EngineRun, 'observe'>
  readonly coverage: Pick<RuleCoverage, 'devicesOf'>
  readonly devices: Pick<AlertDevices, 'byNumber'>
  readonly unusualShifts: UnusualShifts
  readonly signal: AbortSignal
}

/** Devices that are computed at once. */
const devicesMax = 20

/** `hourMs`: the end of the hour. */
export async function observeUnusual(rule: Rule, hourMs: number, options: UnusualHoursOptions): Promise<void> {
  const { condition, id } = rule
  if (condition.kind !== 'unusual') return
  const numbers = options.coverage.devicesOf(id)
  for (let from = 0; from < numbers.length; from += devicesMax) {
    const devices = numbers.slice(from, from + devicesMax).flatMap(number => options.devices.byNumber(number) ?? [])
    const shifts = await options.unusualShifts(devices, condition.metric, options.signal)
    for (const { number } of devices) {
      options.run.observe(id, number, { kind: 'unusual', hourMs, shift: shifts.get(number) ?? Number.NaN })
    }
  }
}
