/** Rules and alerts of a device: the hook that reads them, and the firing ones with a link to the rules. */

import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Alert } from '../../../alerts/core/alert.ts'
import type { Rule } from '../../../alerts/core/rule.ts'
import type { TimeWindow } from '../../charts/range.ts'
import { addressOf } from '../../client/address.ts'
import { serverNowMs } from '../../client/clock.ts'
import { type AlertPage, firingAlerts } from '../../client/firing.ts'
import { lastValue } from '../../client/resource-state.ts'
import { isSignedIn } from '../../client/session.ts'
import { useKept, useRefreshed, useResource } from '../../client/use-resource.ts'
import { SeverityBadge } from '../../parts/marks.tsx'
import { ageText } from '../../text/times.ts'
import { t, tn } from '../../words/words.ts'
import { type AlertMarks, firingOf, limitsOf } from './alert-marks.ts'
import type { Measured } from './answers.ts'

export function DeviceAlerts({
  device,
  firing,
  rules,
}: {
  device: string
  firing: KnownAlerts['firing']
  rules: KnownAlerts['rules']
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
          ? t('No rule watches this device.')
          : tn(
              rules.length,
              '{count} rule of yours watches this device.',
              '{count} rules of yours watch this device.',
            )}{' '}
        <a href={addressOf(`/alerts?${query}`)}>{t('Its alerts')}</a>{' '}
        <a href={addressOf(`/alerts/rules/new?${query}`)}>{t('New rule')}</a>
      </p>
    </div>
  )
}

/** More alerts cannot be distinguished in a chart. */
const alertsMax = 500
const rulesMax = 100
const everyMs = 60_000
const dayMs = 86_400_000

export interface KnownAlerts {
  readonly marks: AlertMarks | undefined
  /** Firing alerts. */
  readonly firing: readonly Alert[]
  /** Undefined for who is not signed in, and while they are not known. */
  readonly rules: readonly Rule[] | undefined
}

/** Empty for a station, which has no rules. */
export function useDeviceAlerts({ kind, name }: Measured, window: TimeWindow): KnownAlerts {
  const isAsked = isSignedIn.value && kind === 'device'
  const device = encodeURIComponent(name)
  // Whole days: a range that moves on with the minute asks the same.
  const since = new Date(Math.floor(window.fromMs / dayMs) * dayMs).toISOString()
  const rulesState = useResource<{ rules: Rule[] }>(
    isAsked ? addressOf(`/api/alert-rules?device=${device}&limit=${rulesMax}`) : undefined,
    { everyMs },
  )
  const { state, refresh } = useRefreshed<AlertPage>(
    isAsked ? addressOf(`/api/alerts?device=${device}&since=${since}&limit=${alertsMax}`) : undefined,
    { everyMs },
  )
  const alerts = useKept(state, name)?.alerts
  const firing = firingAlerts.value.filter(alert => alert.device === name)
  // Events report firing alerts.
  const key = firing.map(({ id, flapping }) => `${id} ${flapping}`).join()
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current) refresh()
    isFirst.current = false
  }, [key])
  const rules = lastValue(rulesState)?.rules
  const marks = useMemo(
    () =>
      rules === undefined && alerts === undefined
        ? undefined
        : { limits: limitsOf(rules ?? []), firing: firingOf(alerts ?? [], window) },
    [rules, alerts, window],
  )
  return { marks, firing, rules }
}
