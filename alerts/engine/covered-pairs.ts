/** Rules and devices as the evaluation has them. A pair of both can fire. */

import { noDeadline, type Timed } from '../../query/live/deadlines.ts'
import { metrics } from '../../store/tables.ts'
import { metricOf } from '../core/condition.ts'
import type { AlertDevices } from '../core/devices.ts'
import type { PairState } from '../core/pair.ts'
import type { Rule, RuleCore, Severity } from '../core/rule.ts'

/** Values of a reading, where they stand in it. */
export interface ReadingValues {
  /** Value of a built-in metric by its column; NaN where missing. */
  value(column: number): number
  /** Value of the device's own series; NaN where missing. */
  custom(series: number): number
}

export interface CoveredRule {
  /** A changed rule takes the place of the one before. */
  rule: EngineRule
  /** Devices of a site rule, with counts of silent and unknown ones. */
  readonly site: { silent: number; unknown: number; devices: number }
}

/** Times in epoch milliseconds, NaN before the first reading. */
export interface CoveredDevice {
  readonly number: number
  /** Time of the newest reading by the device's clock, epoch microseconds. */
  seenUs: number
  /** Time of the newest reading, at most its receipt. */
  lastMs: number
  /** Age from which the device counts as silent; Infinity for one that never does. */
  lateMs: number
  /** Age up to which it is as expected. */
  freshMs: number
  pairs: readonly CoveredPair[]
}

/** Facts of the live state on a device, for the evaluation of its silence. */
export interface DeviceFacts {
  readonly number: number
  /** Time of the newest reading by the device's clock, epoch microseconds; NaN without one. */
  readonly seenUs: number
  /** Time of the newest reading, at most its receipt, epoch milliseconds; NaN without one. */
  readonly lastMs: number
  /** Age from which the device counts as silent; Infinity for one that never does. */
  readonly lateSeconds: number
  /** Age up to which it is as expected. */
  readonly freshSeconds: number
}

/** `unknown`: no reading has come since the service itself was away, and none is overdue yet. */
export type SiteState = 'alive' | 'silent' | 'unknown'

export interface CoveredPair extends Timed {
  readonly of: CoveredRule
  readonly device: CoveredDevice
  /** The device's series of a custom metric; -1 without one. */
  series: number
  /** Undefined of a pair that is idle, has not changed for two hours and keeps no samples. */
  state: PairState | undefined
  /** State in a site rule. */
  site: SiteState
}

export class CoveredPairs {
  readonly #rules = new Map<number, CoveredRule>()
  readonly #devices = new Map<number, CoveredDevice>()
  #count = 0

  get count(): number {
    return this.#count
  }

  rule(id: number): CoveredRule | undefined {
    return this.#rules.get(id)
  }

  addRule(rule: EngineRule): void {
    this.#rules.set(rule.id, { rule, site: { silent: 0, unknown: 0, devices: 0 } })
  }

  removeRule(id: number): void {
    this.#rules.delete(id)
  }

  /** Undefined for a device that no rule covers. */
  device(number: number): CoveredDevice | undefined {
    return this.#devices.get(number)
  }

  devices(): Iterable<CoveredDevice> {
    return this.#devices.values()
  }

  /** Pairs may be removed meanwhile. */
  *pairs(of?: CoveredRule): Generator<CoveredPair> {
    for (const { pairs } of this.#devices.values()) {
      for (const pair of pairs) if (of === undefined || pair.of === of) yield pair
    }
  }

  find(id: number, device: number): CoveredPair | undefined {
    return this.#devices.get(device)?.pairs.find(({ of }) => of.rule.id === id)
  }

  /** The rule does not cover the device yet. */
  add(of: CoveredRule, number: number): CoveredPair {
    const device = this.#devices.get(number) ?? this.#addDevice(number)
    const pair: CoveredPair = { of, device, series: -1, state: undefined, site: 'alive', ...noDeadline }
    // An array of just this length: one that a push makes has room for 16 more.
    device.pairs = device.pairs.concat(pair)
    this.#count++
    return pair
  }

  #addDevice(number: number): CoveredDevice {
    const times = { seenUs: Number.NaN, lastMs: Number.NaN, lateMs: Number.POSITIVE_INFINITY, freshMs: 0 }
    const device: CoveredDevice = { number, ...times, pairs: [] }
    this.#devices.set(number, device)
    return device
  }

  remove(pair: CoveredPair): void {
    const { device } = pair
    device.pairs = device.pairs.filter(other => other !== pair)
    if (device.pairs.length === 0) this.#devices.delete(device.number)
    this.#count--
  }
}

export function readingValue({ of, series }: CoveredPair, reading: ReadingValues): number {
  const { column } = of.rule
  return column === customColumn ? reading.custom(series) : reading.value(column)
}

export interface EngineRule {
  readonly id: number
  readonly version: number
  readonly core: RuleCore
  readonly severity: Severity
  readonly metric: string | null
  /** Column of a built-in metric; `customColumn` for another one, and `noColumn` without a metric. */
  readonly column: number
}

export const noColumn = -1
export const customColumn = -2

/** The kinds that are evaluated by each reading's value. */
const kindsOfValues = new Set<Rule['condition']['kind']>(['above', 'below', 'change', 'battery'])

export function isOfValues({ condition }: Pick<Rule, 'condition'>): boolean {
  return kindsOfValues.has(condition.kind) && metricOf(condition) !== undefined
}

export function engineRuleOf(rule: Rule): EngineRule {
  const { id, version, condition, for_seconds, keep_firing_seconds, severity } = rule
  const metric = metricOf(condition) ?? null
  const core = { condition, for_seconds, keep_firing_seconds }
  return { id, version, core, severity, metric, column: isOfValues(rule) ? columnOf(metric as string) : noColumn }
}

function columnOf(metric: string): number {
  const column = (metrics as readonly string[]).indexOf(metric)
  return column === -1 ? customColumn : column
}

/** Series of a custom metric; -1 where the device lacks it. */
export function customSeriesOf(devices: AlertDevices, device: number, metric: string): number {
  const place = devices.seriesOf(device, metric)
  return place !== undefined && 'series' in place ? place.series : -1
}
