/** Severity and state of an alert as text and shape, readable without colour. */

import type { Alert } from '../../alerts/core/alert.ts'
import { countOf } from '../../analytics/findings/value-words.ts'
import { firingByDevice } from '../client/firing.ts'

type Severity = Alert['severity']

/** Worst first. */
export const severities = ['critical', 'warning', 'info'] as const satisfies readonly Severity[]

const shapes: Record<Severity, string> = {
  /** A square that stands on its corner, with a cut. */
  critical: 'M7 0 14 7 7 14 0 7zM6 3h2v5H6zM6 9.5h2v2H6z',
  /** A triangle. */
  warning: 'M7 1 13.5 12.5H.5z',
  /** A disc. */
  info: 'M7 1.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z',
}

export function SeverityBadge({ severity, children }: { severity: Severity; children?: string }) {
  return (
    <span class={`state severity ${severity}`}>
      <SeverityShape severity={severity} />
      {children ?? severity}
    </span>
  )
}

function SeverityShape({ severity }: { severity: Severity }) {
  return (
    <svg class="shape" viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">
      <path d={shapes[severity]} fill="currentColor" fill-rule="evenodd" />
    </svg>
  )
}

function worstOf(alerts: readonly Pick<Alert, 'severity'>[]): Severity {
  return severities.find(severity => alerts.some(alert => alert.severity === severity)) ?? 'info'
}

/** Changes by itself, so that the rows need not be made again. */
export function FiringMark({ device }: { device: string }) {
  const alerts = firingByDevice.value.get(device)
  if (alerts === undefined) return null
  const severity = worstOf(alerts)
  const names = alerts.map(({ rule }) => rule).join(', ')
  return (
    <span class={`firing severity ${severity}`} title={names}>
      <SeverityShape severity={severity} />
      {alerts.length === 1 ? null : alerts.length}
      <span class="unseen">
        {' '}
        {countOf(alerts.length, 'alert')}: {names}
      </span>
    </span>
  )
}
