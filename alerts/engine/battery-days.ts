/** Feeds rules on batteries with the days that each lasts at least. */

import type { Live } from '../../query/live/live.ts'
import type { AlertDevice, AlertDevices } from '../core/devices.ts'
import type { Rule } from '../core/rule.ts'
import type { EngineRun } from './engine-run.ts'
import type { RuleCoverage } from './rule-coverage.ts'

/** The lower end of the interval, by the number of the device, of those whose battery runs down. Rejects while it cannot be computed. */
export type BatteryDays = (devices: readonly AlertDevice[], signal: AbortSignal) => Promise<ReadonlyMap<number, number>>

export interface BatteryDaysOptions {
  readonly run: Pick<EngineRun, 'observe'>
  readonly coverage: Pick<RuleCoverage, 'devicesOf'>
  readonly devices: Pick<AlertDevices, 'byNumber'>
  readonly live: Pick<Live, 'silenceOf'>
  readonly batteryDays: BatteryDays
  readonly nowMs: () => number
  readonly signal: AbortSignal
}

/** Devices that are computed at once. */
const devicesMax = 200
/** After a longer silence, a missing estimate does not concern the battery. */
const silentMsMax = 86_400_000

export async function observeDays({ id }: Pick<Rule, 'id'>, options: BatteryDaysOptions): Promise<void> {
  const { run, coverage, batteryDays, nowMs, signal } = options
  const numbers = coverage.devicesOf(id)
  for (let from = 0; from < numbers.length; from += devicesMax) {
    const devices = numbers.slice(from, from + devicesMax).flatMap(number => options.devices.byNumber(number) ?? [])
    const days = await batteryDays(devices, signal)
    for (const { number } of devices) {
      run.observe(id, number, { kind: 'days', atMs: nowMs(), days: days.get(number) ?? daysWithout(number, options) })
    }
  }
}

/** A battery that was changed does not run down as far as one can see. */
function daysWithout(number: number, { live, nowMs }: BatteryDaysOptions): number {
  const lastMs = live.silenceOf(number)?.lastMs ?? Number.NaN
  return lastMs >= nowMs() - silentMsMax ? Number.POSITIVE_INFINITY : Number.NaN
}
