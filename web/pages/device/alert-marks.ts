/** Rules and alerts in the charts of a device: limits, firing stretches and a timeline. */

import type { Alert } from '../../../alerts/core/alert.ts'
import type { Condition } from '../../../alerts/core/condition.ts'
import { blocksAt, type Panel, type Stretch, timelinePanel } from '../../charts/panel.ts'
import type { TimeWindow } from '../../charts/range.ts'
import type { Times } from '../../theme/times.ts'
import { t } from '../../words/words.ts'
import { stretchText } from './series-texts.ts'

type Severity = Alert['severity']

/** The value is in the stored unit. */
interface Limit {
  readonly value: number
  readonly text: string
}

export interface FiringStretch extends Stretch {
  readonly severity: Severity
  /** The name of the rule. */
  readonly text: string
  /** The rule's metric; null for a rule without a single one. */
  readonly metric: string | null
}

export interface AlertMarks {
  /** Keys are metrics. */
  readonly limits: ReadonlyMap<string, readonly Limit[]>
  /** Ascending by their beginnings. */
  readonly firing: readonly FiringStretch[]
}

/** Custom properties. */
export const lookOfSeverity: Record<Severity, { readonly wash: string; readonly colour: string }> = {
  critical: { wash: '--bad-wash', colour: '--bad' },
  warning: { wash: '--warn-wash', colour: '--warn' },
  info: { wash: '--accent-wash', colour: '--accent' },
}

/** The metric and the value that a condition is about; undefined for one that knows no limit. */
function limitOf(condition: Condition): { metric: string; value: number } | undefined {
  if (condition.kind === 'above' || condition.kind === 'below') return condition
  if (condition.kind !== 'battery' || condition.metric === undefined || condition.value === undefined) return undefined
  return { metric: condition.metric, value: condition.value }
}

export function limitsOf(
  rules: readonly { readonly name: string; readonly condition: Condition; readonly enabled: boolean }[],
): AlertMarks['limits'] {
  const limits = rules.flatMap(({ name, condition, enabled }) => {
    const limit = enabled ? limitOf(condition) : undefined
    return limit === undefined ? [] : [{ ...limit, text: name }]
  })
  return Map.groupBy(limits, ({ metric }) => metric)
}

/** Stretches of fired alerts within the window. */
export function firingOf(alerts: readonly Alert[], { fromMs, toMs }: TimeWindow): FiringStretch[] {
  const stretches = alerts.flatMap(({ fired_at, resolved_at, severity, rule, metric }) =>
    fired_at === null
      ? []
      : [
          {
            fromMs: Date.parse(fired_at),
            toMs: resolved_at === null ? toMs : Date.parse(resolved_at),
            severity,
            text: rule,
            metric,
          },
        ],
  )
  return stretches.filter(one => one.toMs > fromMs && one.fromMs < toMs).sort((a, b) => a.fromMs - b.fromMs)
}

/** The timeline of alerts; undefined without any. */
export function firingPanel(firing: readonly FiringStretch[], times: Times): Panel | undefined {
  if (firing.length === 0) return undefined
  return timelinePanel({
    key: 'alerts',
    title: t('Alerts'),
    stretches: firing.map(one => ({ ...one, colour: lookOfSeverity[one.severity].colour })),
    textAt: atMs => firingText(firing, atMs, times),
  })
}

function firingText(firing: readonly FiringStretch[], atMs: number, times: Times): string | null {
  const there = blocksAt(firing, atMs)
  if (there.length === 0) return null
  return there.map(one => `${one.text} (${one.severity}, ${stretchText(one, times)})`).join(', ')
}
