/** A rule as its evaluation has it. */

import { metrics } from '../../store/tables.ts'
import { metricOf } from '../core/condition.ts'
import type { AlertDevices } from '../core/devices.ts'
import type { Rule, RuleCore, Severity } from '../core/rule.ts'

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
