/** The rules and the alerts of a device, for who is signed in. */

import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Alert } from '../../../alerts/core/alert.ts'
import type { Rule } from '../../../alerts/core/rule.ts'
import type { TimeWindow } from '../../charts/range.ts'
import { addressOf } from '../../client/address.ts'
import { type AlertPage, firingAlerts } from '../../client/firing.ts'
import { lastValue } from '../../client/resource-state.ts'
import { isSignedIn } from '../../client/session.ts'
import { useKept } from '../../client/use-kept.ts'
import { useRefreshed, useResource } from '../../client/use-resource.ts'
import { type AlertMarks, firingOf, limitsOf } from './alert-marks.ts'
import type { Measured } from './measured.ts'

/** More alerts cannot be distinguished in a chart. */
const alertsMax = 500
const rulesMax = 100
const everyMs = 60_000
const dayMs = 86_400_000

export interface DeviceAlerts {
  readonly marks: AlertMarks | undefined
  /** Firing alerts. */
  readonly firing: readonly Alert[]
  /** Undefined for who is not signed in, and while they are not known. */
  readonly rules: readonly Rule[] | undefined
}

/** Empty for a station, which has no rules. */
export function useDeviceAlerts({ kind, name }: Measured, window: TimeWindow): DeviceAlerts {
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
