/** Firing and past alerts, newest first or by device. */

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Alert } from '../../../alerts/core/alert.ts'
import type { Channel } from '../../../alerts/core/channel.ts'
import { addressOf, setArguments, urlArguments } from '../../client/address.ts'
import { openEvents } from '../../client/events.ts'
import { type AlertPage, alertChanged } from '../../client/firing.ts'
import { lastValue, type ResourceState, worstState } from '../../client/resource-state.ts'
import { useRefreshed, useResource } from '../../client/use-resource.ts'
import { FilterField } from '../../parts/fields.tsx'
import { Pager } from '../../parts/list-section.tsx'
import { FailureBanner, Skeleton } from '../../parts/loading.tsx'
import { severities, severityNames } from '../../parts/marks.tsx'
import { useActions } from '../../parts/use-actions.tsx'
import { countText, t, tp } from '../../words/words.ts'
import { AlertRows, type AlertRowsProps } from './alert-rows.tsx'
import { useFleet } from './use-fleet.ts'

/** Firing alerts are on one page, up to the maximum of an answer. */
const openMax = 1000
const endedLimit = 50
/** The poll interval while no events arrive. */
const everyMs = 30_000

export function AlertsSection() {
  const fleet = useFleet()
  const [severity = '', device = '', rule = '', after = ''] = ['severity', 'device', 'rule', 'after'].map(
    name => urlArguments.value.get(name) ?? '',
  )
  const isByDevice = urlArguments.value.get('by') === 'device'
  const filters = { severity, device, rule }
  const firing = useAlerts({ state: 'firing', limit: String(openMax), ...filters })
  const pending = useAlerts({ state: 'pending', limit: String(openMax), ...filters })
  const ended = useAlerts({ state: 'resolved', limit: String(endedLimit), after, ...filters })
  const refresh = () => {
    for (const list of [firing, pending, ended]) list.refresh()
  }
  useAlertEvents(refresh)
  const { actions, notice } = useActions('/api', refresh)
  const state = worstState([firing.state, pending.state, ended.state])
  // A visitor without read permission sees the reason, not empty lists.
  const isShown = state.kind !== 'failed'
  const lists = { actions, fleet, isByDevice }
  return (
    <>
      <FailureBanner state={state} timeText={fleet.times.time} />
      {notice}
      <ChannelNotices />
      {rule === '' || !isShown ? null : (
        <OneRule alerts={[firing, pending, ended].flatMap(({ state }) => lastValue(state)?.alerts ?? [])} />
      )}
      {isShown ? <AlertFilters severity={severity} device={device} isByDevice={isByDevice} /> : null}
      {isShown ? (
        <>
          <List kind="firing" none={t('No firing alerts.')} state={firing.state} {...lists} />
          <List kind="pending" none="" state={pending.state} {...lists} />
          <List kind="resolved" none={t('No resolved alerts.')} state={ended.state} {...lists} isByDevice={false}>
            <Pager
              argument="after"
              current={after}
              next={lastValue(ended.state)?.next ?? null}
              firstText={t('Newest')}
              nextText={t('Older')}
            />
          </List>
        </>
      ) : null}
    </>
  )
}

/** Errors of enabled channels. */
function ChannelNotices() {
  const page = lastValue(useResource<{ channels: Channel[] }>(addressOf('/api/alert-channels?limit=100')))
  const noticed = page?.channels.filter(({ enabled, notice }) => enabled && notice !== null) ?? []
  return noticed.map(({ id, name, notice }) => (
    <p key={id} class="soft">
      {tp('Notifications to {link}: {notice}.', { link: <a href={addressOf('/alerts/channels')}>{name}</a>, notice })}
    </p>
  ))
}

function useAlerts(given: Record<string, string>) {
  const query = new URLSearchParams(Object.entries(given).filter(([, text]) => text !== ''))
  return useRefreshed<AlertPage>(addressOf(`/api/alerts?${query}`), { everyMs })
}

/** Messages lead to the alerts of their rule. */
function OneRule({ alerts: [first] }: { alerts: readonly Alert[] }) {
  return (
    <p>
      {tp('Of {rule} alone. {link}', {
        rule: first === undefined ? t('one rule') : <strong>{first.rule}</strong>,
        link: <a href={addressOf('/alerts')}>{t('All alerts')}</a>,
      })}
    </p>
  )
}

interface ListProps extends Omit<AlertRowsProps, 'alerts'> {
  kind: Alert['state']
  /** The text of an empty list. An empty text leaves the list out. */
  none: string
  state: ResourceState<AlertPage>
  children?: ComponentChildren
}

const listTitles: Record<Alert['state'], string> = {
  firing: t('Firing'),
  pending: t('Pending'),
  resolved: t('Resolved'),
}

const loadingNames: Record<Alert['state'], string> = {
  firing: t('Firing alerts are loading'),
  pending: t('Pending alerts are loading'),
  resolved: t('Resolved alerts are loading'),
}

function List({ kind, none, state, children, ...rows }: ListProps) {
  const page = lastValue(state)
  const id = useId()
  if (page === undefined)
    return state.kind === 'loading' && none !== '' ? <Skeleton name={loadingNames[kind]} rows={3} /> : null
  const { alerts } = page
  if (alerts.length === 0 && none === '') return null
  return (
    <section aria-labelledby={id}>
      <h2 id={id} class="list-title">
        {listTitles[kind]}{' '}
        {kind === 'resolved' ? null : (
          <span class="soft">
            {countText(alerts.length)}
            {page.next === null ? '' : '+'}
          </span>
        )}
      </h2>
      {alerts.length > 0 ? null : kind === 'firing' ? (
        <div class="tools card">
          <p>{none}</p>
          <a class="button strong" href={addressOf('/alerts/rules/new')}>
            {t('New rule')}
          </a>
        </div>
      ) : (
        <p class="soft">{none}</p>
      )}
      {alerts.length === 0 ? null : <AlertRows {...rows} alerts={alerts} />}
      {children}
    </section>
  )
}

const restMs = 500

/** Calls back soon after alerts have changed, once for many. */
function useAlertEvents(onChange: () => void): void {
  const latest = useRef(onChange)
  latest.current = onChange
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const change = () => {
      alertChanged()
      clearTimeout(timer)
      timer = setTimeout(() => latest.current(), restMs)
    }
    const close = openEvents(addressOf('/api/events?state=1'), {
      on: { alert: change },
      onLive: () => undefined,
      onGap: change,
    })
    return () => {
      clearTimeout(timer)
      close()
    }
  }, [])
}

interface AlertFiltersProps {
  severity: string
  device: string
  isByDevice: boolean
}

/** Filters and order of the alerts, kept in the address. */
function AlertFilters({ severity, device, isByDevice }: AlertFiltersProps) {
  const [text, setText] = useState(device)
  return (
    <div class="fields filters">
      <FilterField
        label={t('Severity')}
        argument="severity"
        chosen={severity}
        choices={severities.map(one => [one, severityNames[one]] as const)}
      />
      <label class="field">
        {t('Device')}
        <input
          type="search"
          value={text}
          maxLength={256}
          placeholder={t('all')}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onChange={({ currentTarget }) => setArguments({ device: currentTarget.value.trim(), after: undefined })}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={isByDevice}
          onChange={({ currentTarget }) => setArguments({ by: currentTarget.checked ? 'device' : undefined })}
        />
        {t('By device')}
      </label>
    </div>
  )
}
