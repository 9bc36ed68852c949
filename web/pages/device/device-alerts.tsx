/** Firing alerts of a device, with a link to its rules. */

import { countOf } from '../../../analytics/findings/value-words.ts'
import { addressOf } from '../../client/address.ts'
import { serverNowMs } from '../../client/clock.ts'
import { SeverityBadge } from '../../parts/severity-badge.tsx'
import { ageText } from '../../text/times.ts'
import type { DeviceAlerts as Known } from './use-device-alerts.ts'

export function DeviceAlerts({
  device,
  firing,
  rules,
}: {
  device: string
  firing: Known['firing']
  rules: Known['rules']
}) {
  if (rules === undefined) return null
  const query = new URLSearchParams({ device })
  return (
    <div class="device-alerts">
      {firing.length === 0 ? null : (
        <ul>
          {firing.map(({ id, rule, rule_id, severity, fired_at, opened_at }) => (
            <li key={id}>
              <SeverityBadge severity={severity} /> <a href={addressOf(`/alerts/rules/${rule_id}`)}>{rule}</a>{' '}
              <span class="age">{ageText(serverNowMs.value - Date.parse(fired_at ?? opened_at))}</span>
            </li>
          ))}
        </ul>
      )}
      <p>
        {rules.length === 0
          ? 'No rule watches this device.'
          : `${countOf(rules.length, 'rule')} of yours ${rules.length === 1 ? 'watches' : 'watch'} this device.`}{' '}
        <a href={addressOf(`/alerts?${query}`)}>Its alerts</a>{' '}
        <a href={addressOf(`/alerts/rules/new?${query}`)}>New rule</a>
      </p>
    </div>
  )
}
