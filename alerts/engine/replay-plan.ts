/** What is read again of which devices, for rules on values. */

import { metricOf } from '../core/condition.ts'
import type { Rule } from '../core/rule.ts'
import { memoryMs } from '../core/samples.ts'
import type { ReplayPlan } from './replay.ts'
import { isOfValues } from './value-columns.ts'

/** From then on all is evaluated. Devices that a rule on a change covers are read from further back, by what it measures against. */
export function replayPlans(
  rules: Iterable<Rule>,
  devicesOf: (rule: number) => readonly number[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
): ReplayPlan[] {
  const ofValues = [...rules].filter(isOfValues)
  const metrics = [...new Set(ofValues.map(({ condition }) => metricOf(condition) as string))]
  const windowMs = (rule: Rule) => ('window_seconds' in rule.condition ? rule.condition.window_seconds * 1000 : 0)
  const changes = ofValues.filter(rule => windowMs(rule) > 0)
  const custom = new Set(changes.flatMap(({ id }) => devicesOf(id)))
  const plain = new Set(ofValues.flatMap(({ id }) => devicesOf(id)).filter(number => !custom.has(number)))
  const beginMs = fromMs - memoryMs(Math.max(0, ...changes.map(windowMs)))
  return [
    { devices: [...plain], metrics, fromMs, toMs },
    { devices: [...custom], metrics, fromMs: beginMs, toMs },
  ].filter(({ devices }) => devices.length > 0)
}
