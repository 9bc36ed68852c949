/** Alerts as rows: condition, place and start, with the actions on each. */

import { useState } from 'preact/hooks'
import type { Alert, AlertEventRow } from '../../../alerts/core/alert.ts'
import { addressOf } from '../../client/address.ts'
import { serverNowMs } from '../../client/clock.ts'
import { lastValue } from '../../client/resource-state.ts'
import { devicePath } from '../../client/routes.ts'
import { useResource } from '../../client/use-resource.ts'
import { FailureBanner, Skeleton } from '../../parts/loading.tsx'
import { SeverityBadge, severityNames } from '../../parts/marks.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Facts, RowButton } from '../../parts/record.tsx'
import type { Actions } from '../../parts/use-actions.tsx'
import { measure, type Quantities } from '../../text/quantities.ts'
import { ageText, spanText } from '../../text/times.ts'
import type { Times } from '../../theme/times.ts'
import { t, tc, tp } from '../../words/words.ts'
import type { KnownFleet } from './use-fleet.ts'

export interface AlertRowsProps {
  alerts: readonly Alert[]
  fleet: KnownFleet
  actions: Actions
  isByDevice: boolean
}

export function AlertRows({ alerts, isByDevice, ...of }: AlertRowsProps) {
  if (!isByDevice) return <Rows alerts={alerts} {...of} />
  const byDevice = Map.groupBy(alerts, ({ device }) => device)
  const groups = [...byDevice].sort(([a], [b]) => (a ?? '').localeCompare(b ?? ''))
  return (
    <>
      {groups.map(([device, own]) => (
        <section key={device ?? ''} aria-label={device ?? t('not of a single device')}>
          <h3>{device ?? t('Not of a single device')}</h3>
          <Rows alerts={own} {...of} />
        </section>
      ))}
    </>
  )
}

function Rows({ alerts, ...of }: Omit<AlertRowsProps, 'isByDevice'>) {
  return (
    <ul class="records">
      {alerts.map(alert => (
        <li key={alert.id}>
          <AlertRow alert={alert} {...of} />
        </li>
      ))}
    </ul>
  )
}

interface AlertRowProps {
  alert: Alert
  fleet: KnownFleet
  actions: Actions
}

function AlertRow({ alert, fleet, actions }: AlertRowProps) {
  const [isOpen, setOpen] = useState(false)
  const { id, rule, rule_id, device, state, note } = alert
  const name = device === null ? rule : `${rule}, ${device}`
  return (
    <>
      <div class={`record ${state}`}>
        <div>
          <p class="alert-head">
            <SeverityBadge severity={alert.severity}>{stateText(alert)}</SeverityBadge>
            {device === null ? null : <a href={addressOf(devicePath(device))}>{device}</a>}
            <a class="rule-name" href={addressOf(`/alerts/rules/${rule_id}`)}>
              {rule}
            </a>
            <ValueText alert={alert} quantities={fleet.quantities} />
          </p>
          <p class="soft">
            <TimeText alert={alert} times={fleet.times} />
          </p>
          {note === '' ? null : <p class="alert-note">{note}</p>}
        </div>
        <div class="actions">
          {state === 'firing' ? <OpenActions alert={alert} name={name} times={fleet.times} actions={actions} /> : null}
          <RowButton name={name} text={t('History')} isOpen={isOpen} onClick={() => setOpen(!isOpen)} />
        </div>
      </div>
      {isOpen ? <AlertHistory id={id} times={fleet.times} /> : null}
    </>
  )
}

/** `critical`, `critical, flapping`, `resolved (critical)` */
function stateText({ severity, state, flapping }: Alert): string {
  if (state === 'resolved') return t('resolved ({severity})', { severity: severityNames[severity] })
  const words = [
    severityNames[severity],
    ...(state === 'pending' ? [tc('alert', 'pending')] : []),
    ...(flapping ? [t('flapping')] : []),
  ]
  return words.join(', ')
}

function ValueText({ alert: { metric, value }, quantities }: { alert: Alert; quantities: Quantities }) {
  if (metric === null || value === null) return null
  return <span class="alert-value">{measure(value, quantities.of(metric))}</span>
}

/** Shows the start, the duration, and the account that acknowledged the alert. */
function TimeText({ alert, times }: { alert: Alert; times: Times }) {
  const { opened_at, fired_at, resolved_at, resolved_reason, acknowledged_by, silenced_by } = alert
  const sinceMs = Date.parse(fired_at ?? opened_at)
  const since = (
    <Moment at={sinceMs} times={times}>
      {times.dateTime(sinceMs)}
    </Moment>
  )
  const facts = [
    resolved_at === null
      ? tp('since {since}, {age}', { since, age: ageText(serverNowMs.value - sinceMs) })
      : tp('{since}, for {duration}', { since, duration: spanText(Date.parse(resolved_at) - sinceMs) }),
    resolved_at === null ? undefined : reasonText(resolved_reason),
    acknowledged_by === null ? undefined : t('acknowledged by {name}', { name: acknowledged_by }),
    silenced_by === null ? undefined : t('silenced: no notifications'),
  ]
  return <Facts facts={facts} />
}

const reasons: Record<string, string> = {
  rule_removed: t('its rule was removed'),
  rule_disabled: t('its rule was disabled'),
  rule_changed: t('its rule was changed'),
  device_removed: t('the device was removed'),
  device_off: t('the device logs no more'),
  not_selected: t('the rule no longer covers the device'),
}

function reasonText(reason: string | null): string | undefined {
  return reason === null ? undefined : reasons[reason]
}

const hourMs = 3_600_000

interface OpenActionsProps {
  alert: Alert
  /** Names the row in each button for screen readers. */
  name: string
  times: Times
  actions: Actions
}

/** One tap each, on a phone too. */
function OpenActions({
  alert: { id, rule_id, device, acknowledged_by, silenced_by },
  name,
  times,
  actions,
}: OpenActionsProps) {
  const acknowledge = () =>
    void actions.change(
      'POST',
      `/alerts/${id}/acknowledge`,
      undefined,
      t('{name} is acknowledged: it is not repeated.', { name }),
    )
  const silence = () => {
    const untilMs = serverNowMs.peek() + hourMs
    const selector = device === null ? { all: true } : { devices: [device] }
    const body = { selector, rule_id, until: new Date(untilMs).toISOString(), reason: t('From the list of alerts') }
    void actions.change(
      'POST',
      '/silences',
      body,
      t('{name} is silenced until {time}.', { name, time: times.time(untilMs) }),
    )
  }
  return (
    <>
      {acknowledged_by === null ? <RowButton name={name} text={t('Acknowledge')} onClick={acknowledge} /> : null}
      {silenced_by === null ? <RowButton name={name} text={t('Silence for 1 hour')} onClick={silence} /> : null}
    </>
  )
}

const everyMs = 30_000

const eventTexts: Record<string, string> = {
  pending: tc('alert', 'begins'),
  firing: tc('alert', 'fires'),
  resolved: t('is resolved'),
  flapping: t('flaps: it is quiet until half an hour without a change'),
  settled: t('no longer flaps'),
  acknowledged: t('is acknowledged'),
  notified: t('is notified'),
  silenced: t('is silenced'),
}

/** The events and notifications of an alert. */
function AlertHistory({ id, times }: { id: string; times: Times }) {
  const state = useResource<Alert & { events: AlertEventRow[] }>(addressOf(`/api/alerts/${id}`), { everyMs })
  const details = lastValue(state)
  if (details === undefined && state.kind === 'loading') return <Skeleton name={t('The history is loading')} rows={2} />
  return (
    <div class="history">
      <FailureBanner state={state} timeText={times.time} />
      <ol>
        {details?.events.map(({ at, kind, details }, place) => (
          <li key={place}>
            <Moment at={at} times={times} /> {eventTexts[kind] ?? kind}
            {detailText(details)}
          </li>
        ))}
      </ol>
    </div>
  )
}

/** The actor or the channel of an event. */
function detailText(details: object): string {
  const { by, channel, reason } = details as Record<string, unknown>
  const texts = [by, channel, reason].filter(text => typeof text === 'string')
  return texts.length === 0 ? '' : `: ${texts.join(', ')}`
}
