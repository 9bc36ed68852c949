/** Marks in rows: states and severities as text and shape, readable without colour, tags, directions and hours. */

import type { Alert } from '../../alerts/core/alert.ts'
import { firingByDevice } from '../client/firing.ts'
import { type DeviceState, stateNames } from '../text/kind-words.ts'
import { hoursText } from '../text/times.ts'
import { t, tn } from '../words/words.ts'

const disc = 'M7 1.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z'
const triangle = 'M7 1 13.5 12.5H.5z'
/** It stands on its corner and has a cut. */
const cutSquare = 'M7 0 14 7 7 14 0 7zM6 3h2v5H6zM6 9.5h2v2H6z'

const stateShapes: Record<DeviceState, string> = {
  fresh: disc,
  late: triangle,
  silent: cutSquare,
  /** A ring. */
  never: 'M7 1a6 6 0 1 0 0 12A6 6 0 0 0 7 1zm0 2.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7z',
  /** A bar. */
  off: 'M1 5.5h12v3H1z',
}

export function StateBadge({ state }: { state: DeviceState }) {
  return (
    <span class={`state ${state}`}>
      <StateShape state={state} />
      {stateNames[state]}
    </span>
  )
}

export function StateShape({ state }: { state: DeviceState }) {
  return (
    <svg class={`shape ${state}`} viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">
      <path d={stateShapes[state]} fill="currentColor" fill-rule="evenodd" />
    </svg>
  )
}

type Severity = Alert['severity']

/** Worst first. */
export const severities = ['critical', 'warning', 'info'] as const satisfies readonly Severity[]

export const severityNames: Readonly<Record<Severity, string>> = {
  critical: t('critical'),
  warning: t('warning'),
  info: t('info'),
}

const severityShapes: Record<Severity, string> = {
  critical: cutSquare,
  warning: triangle,
  info: disc,
}

export function SeverityBadge({ severity, children }: { severity: Severity; children?: string }) {
  return (
    <span class={`state severity ${severity}`}>
      <SeverityShape severity={severity} />
      {children ?? severityNames[severity]}
    </span>
  )
}

function SeverityShape({ severity }: { severity: Severity }) {
  return (
    <svg class="shape" viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">
      <path d={severityShapes[severity]} fill="currentColor" fill-rule="evenodd" />
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
        {tn(alerts.length, '{count} alert', '{count} alerts')}: {names}
      </span>
    </span>
  )
}

export function TagList({ tags, hrefOf }: { tags: readonly string[]; hrefOf?: (tag: string) => string }) {
  return (
    <ul class="tags" aria-label={t('Tags')}>
      {tags.map(tag => (
        <li key={tag}>{hrefOf === undefined ? tag : <a href={hrefOf(tag)}>{tag}</a>}</li>
      ))}
    </ul>
  )
}

export function DirectionArrow({ degrees }: { degrees: number }) {
  return (
    <svg class="direction" viewBox="-10 -10 20 20" aria-hidden="true">
      <path d="M0 -9 6 8 0 4 -6 8z" transform={`rotate(${degrees})`} />
    </svg>
  )
}

/** Heights by letter, of 14. A missing hour has only a mark on the baseline. */
const heights: Record<string, number> = { A: 2, B: 6, C: 10, D: 14 }
/** The distance of two bars. */
export const hourStep = 5
const [barWidth, height] = [4, 14]

/** `hours`: a letter an hour, oldest first, as in the answer of the fleet. */
export function HourStrip({ hours }: { hours: string }) {
  return (
    <svg
      class="strip"
      role="img"
      aria-label={hoursText(hours)}
      viewBox={`0 0 ${hours.length * hourStep - 1} ${height}`}
      width={hours.length * hourStep - 1}
      height={height}
    >
      {Object.keys(heights).map(letter => (
        <path key={letter} class={`hours-${letter}`} d={barsOf(hours, letter)} />
      ))}
    </svg>
  )
}

function barsOf(hours: string, letter: string): string {
  const bar = heights[letter] ?? 0
  let path = ''
  for (let hour = 0; hour < hours.length; hour++) {
    if (hours[hour] === letter) path += `M${hour * hourStep} ${height - bar}h${barWidth}v${bar}h-${barWidth}z`
  }
  return path
}
