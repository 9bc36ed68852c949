/** The mark of firing alerts beside a device's name. */

import { countOf } from '../../../analytics/findings/value-words.ts'
import { firingByDevice } from '../../client/firing.ts'
import { SeverityShape, worstOf } from '../../parts/severity-badge.tsx'

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
