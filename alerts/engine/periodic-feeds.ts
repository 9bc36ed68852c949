/** Feeds rules with observations that stored readings give once a period: completed hours, and estimates of batteries. */

import { setImmediate as turn } from 'node:timers/promises'
import type { Live } from '../../query/live/live.ts'
import type { AlertDevice, AlertDevices } from '../core/devices.ts'
import type { Rule } from '../core/rule.ts'
import type { EngineRun } from './engine-run.ts'
import type { RuleCoverage } from './rule-coverage.ts'

/** Resolves to the fewest days that the battery of each device lasts, by its number. Batteries that do not run down are missing. */
export type BatteryDays = (devices: readonly AlertDevice[], signal: AbortSignal) => Promise<ReadonlyMap<number, number>>

/** Resolves to shifts by the number of the device; 0: not unusual. Devices without a verdict are missing. */
export type UnusualShifts = (
  devices: readonly AlertDevice[],
  metric: string,
  signal: AbortSignal,
) => Promise<ReadonlyMap<number, number>>

interface Fed {
  readonly run: Pick<EngineRun, 'observe'>
  readonly coverage: Pick<RuleCoverage, 'devicesOf'>
  readonly signal: AbortSignal
}

interface FedDevices extends Fed {
  readonly devices: Pick<AlertDevices, 'byNumber'>
}

const hourMs = 3_600_000
/** Readings of the last minutes of an hour may arrive late. */
const afterMs = 300_000
const sharesPerTurn = 1000
const unusualPerRead = 20
const batteriesPerRead = 200
/** After a longer silence, a missing estimate does not concern the battery. */
const silentMsMax = 86_400_000

/** Begin of the last hour that can be observed. */
export function lastFullHourMs(nowMs: number): number {
  return Math.floor((nowMs - afterMs) / hourMs) * hourMs - hourMs
}

/** Feeds rules on completeness with the share of each device in the hour. */
export async function observeHour(
  hourBeginMs: number,
  options: Fed & { readonly rules: Iterable<Rule>; readonly live: Pick<Live, 'hourShareOf'> },
): Promise<void> {
  const { run, rules, coverage, live, signal } = options
  for (const { id, condition } of rules) {
    if (condition.kind !== 'completeness') continue
    for (const [index, device] of coverage.devicesOf(id).entries()) {
      if (index % sharesPerTurn === sharesPerTurn - 1) await turn()
      if (signal.aborted) return
      const share = Math.min(1, live.hourShareOf(device, hourBeginMs))
      run.observe(id, device, { kind: 'hour', hourMs: hourBeginMs + hourMs, share })
    }
  }
}

/** Feeds a rule on unusual values with the distance of each gauge from its usual values. `hourMs`: the end of the hour. */
export async function observeUnusual(
  { id, condition }: Rule,
  hourMs: number,
  options: FedDevices & { readonly unusualShifts: UnusualShifts },
): Promise<void> {
  if (condition.kind !== 'unusual') return
  for (const devices of coveredDevices(id, unusualPerRead, options)) {
    const shifts = await options.unusualShifts(devices, condition.metric, options.signal)
    for (const { number } of devices) {
      options.run.observe(id, number, { kind: 'unusual', hourMs, shift: shifts.get(number) ?? Number.NaN })
    }
  }
}

interface FedBatteries extends FedDevices {
  readonly live: Pick<Live, 'silenceOf'>
  readonly batteryDays: BatteryDays
  readonly nowMs: () => number
}

export async function observeDays({ id }: Pick<Rule, 'id'>, options: FedBatteries): Promise<void> {
  const { run, batteryDays, nowMs, signal } = options
  for (const devices of coveredDevices(id, batteriesPerRead, options)) {
    const days = await batteryDays(devices, signal)
    for (const { number } of devices) {
      run.observe(id, number, { kind: 'days', atMs: nowMs(), days: days.get(number) ?? daysWithout(number, options) })
    }
  }
}

/** A replaced battery has no end in sight. */
function daysWithout(number: number, { live, nowMs }: FedBatteries): number {
  const lastMs = live.silenceOf(number)?.lastMs ?? Number.NaN
  return lastMs >= nowMs() - silentMsMax ? Number.POSITIVE_INFINITY : Number.NaN
}

function* coveredDevices(rule: number, perRead: number, { coverage, devices }: FedDevices): Generator<AlertDevice[]> {
  const numbers = coverage.devicesOf(rule)
  for (let from = 0; from < numbers.length; from += perRead) {
    yield numbers.slice(from, from + perRead).flatMap(number => devices.byNumber(number) ?? [])
  }
}
