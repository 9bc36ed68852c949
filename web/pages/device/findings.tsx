/** Findings about a device, worst first, each with a link to its range of the charts. */

import { useMemo } from 'preact/hooks'
import type { Stats } from '../../../query/shapes/stats.ts'
import { addressOf } from '../../client/address.ts'
import { SeverityBadge } from '../../parts/severity-badge.tsx'
import { findingSentence, pageWords, timesOfFinding } from '../../text/finding-words.ts'
import type { Quantities } from '../../text/quantities.ts'
import type { Zone } from '../../text/zone.ts'
import type { Times } from '../../theme/times.ts'
import { ChartLink } from './chart-link.tsx'
import { findingWindow } from './finding-window.ts'

export interface FindingsProps {
  readonly stats: Stats
  readonly quantities: Quantities
  /** The answer's zone. */
  readonly zone: Zone
  readonly times: Times
  /** A full minute. */
  readonly nowMs: number
}

export function Findings({ stats, quantities, zone, times, nowMs }: FindingsProps) {
  const { findings } = stats
  const words = useMemo(() => pageWords(quantities, times, nowMs), [quantities, times, nowMs])
  // A device without readings has no findings.
  if (stats.freshness.last_seen === null) return null
  if (findings.length === 0) return <p class="no-findings">Nothing looks wrong.</p>
  return (
    <section class="findings" aria-labelledby="findings">
      <h2 id="findings">Findings</h2>
      <ul>
        {findings.map(finding => {
          const window = findingWindow(timesOfFinding(finding, zone), nowMs)
          return (
            <li key={`${finding.code} ${finding.metric} ${finding.since}`}>
              <SeverityBadge severity={finding.severity} />
              <span>
                {findingSentence(finding, words, zone)}. <ChartLink window={window} />
              </span>
            </li>
          )
        })}
      </ul>
      <p class="note">
        <a href={addressOf('/docs/statistics#findings')}>How they are found</a>
      </p>
    </section>
  )
}
