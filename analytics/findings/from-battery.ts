/** Findings of batteries: one that runs out soon, or one that is low without a known date. */

import type { BatteryState } from '../battery/battery-state.ts'
import { type Finding, noDetails } from './finding.ts'

/** A battery that lasts longer does not need a finding. */
const lowDaysMax = 30
const lowDaysCritical = 7
/** The unit is percent. */
const emptyCharge = 5

export interface KnownBattery {
  readonly metric: string
  /** Kind of its values, or of the values in percent. */
  readonly kind: 'voltage' | 'charge'
  readonly state: BatteryState
  /** Days since the middle of the state's last day with values. */
  readonly sinceDays: number
}

/**
 * `firstDayMs`: the first day of the state. `countedFromMs`: the day from which the date is counted. `scale` converts a value
 * to volts or percent.
 */
export interface BatteryTimes {
  readonly firstDayMs: number
  readonly countedFromMs: number
  readonly scale?: number
}

const dayMs = 86_400_000

export function batteryFinding(battery: KnownBattery, times: BatteryTimes): Finding | undefined {
  const { metric, kind, state } = battery
  if (state.kind === 'days') return daysFinding(battery, times.countedFromMs)
  const { value, alarmBelow, sinceDay } = state
  const { scale = 1 } = times
  return {
    ...noDetails,
    code: 'battery_level',
    severity: kind === 'charge' && value <= emptyCharge ? 'critical' : 'warning',
    metric,
    sinceMs: times.firstDayMs + sinceDay * dayMs,
    value: rounded(value / scale, 3),
    expected: alarmBelow === null ? null : [alarmBelow / scale, null],
  }
}

function daysFinding({ metric, state, sinceDays }: KnownBattery, sinceMs: number): Finding | undefined {
  if (state.kind !== 'days') return undefined
  const { daysLeft, low, high } = leftOf(state, sinceDays)
  if (low > lowDaysMax) return undefined
  const severity = low <= lowDaysCritical ? 'critical' : 'warning'
  return { ...noDetails, code: 'battery_days', severity, metric, sinceMs, value: daysLeft, expected: [low, high] }
}

/** Days from now, to a tenth. */
export function leftOf(state: Extract<BatteryState, { kind: 'days' }>, sinceDays: number) {
  const left = (value: number) => rounded(Math.max(0, value - sinceDays), 1)
  return { daysLeft: left(state.daysLeft), low: left(state.low), high: left(state.high) }
}

function rounded(value: number, decimals: number): number {
  return Number(value.toFixed(decimals))
}
