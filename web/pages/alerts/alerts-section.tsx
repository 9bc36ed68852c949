/** What fires, and what has fired: newest first, or by device. */

import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { addressOf, setArguments, urlArguments } from '../../client/address.ts'
import type { AlertPage } from '../../client/firing.ts'
import { lastValue, type ResourceState, worstState } from '../../client/resource-state.ts'
import { useRefreshed } from '../../client/use-resource.ts'
import { FailureBanner } from '../../parts/failure-banner.tsx'
import { severities } from '../../parts/severity-badge.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { countText } from '../../text/numbers.ts'
import { useActions } from '../admin/use-actions.tsx'
import { AlertRows, type AlertRowsProps } from './alert-rows.tsx'
import { useAlertEvents } from './use-alert-events.ts'
import { useFleet } from './use-fleet.ts'

/** What fires is on one page, as many as an answer has. */
const openMax = 1000
const endedLimit = 50
/** Where no event tells. */
const everyMs = 30_000

export function AlertsSection() {
  const fleet = useFleet()
  const [severity = '', device = '', after = ''] = ['severity', 'device', 'after'].map(
    name => urlArguments.value.get(name) ?? '',
  )
  const isByDevice = urlArguments.value.get('by') === 'device'
  const filters = { severity, device }
  const firing = useAlerts({ state: 'firing', limit: String(openMax), ...filters })
  const pending = useAlerts({ state: 'pending', limit: String(openMax), ...filters })
  const ended = useAlerts({ state: 'resolved', limit: String(endedLimit), after, ...filters })
  const refresh = () => {
    for (const list of [firing, pending, ended]) list.refresh()
  }
  useAlertEvents(refresh)
  const { actions, notice } = useActions('/api', refresh)
  const state = worstState([firing.state, pending.state, ended.state])
  // Who may read nothing sees why, and no empty lists.
  const isShown = state.kind !== 'failed'
  const lists = { actions, fleet, isByDevice }
  return (
    <>
      <FailureBanner state={state} timeText={fleet.times.time} />
      {notice}
      {isShown ? <Filters severity={severity} device={device} isByDevice={isByDevice} /> : null}
      {isShown ? (
        <>
          <List title="Firing" none="Nothing fires." state={firing.state} {...lists} />
          <List title="Pending" none="" state={pending.state} {...lists} />
          <List title="Resolved" none="Nothing has fired yet." state={ended.state} {...lists} isByDevice={false}>
            <Pager after={after} next={lastValue(ended.state)?.next ?? null} />
          </List>
        </>
      ) : null}
    </>
  )
}

function Pager({ after, next }: { after: string; next: string | null }) {
  if (after === '' && next === null) return null
  return (
    <div class="actions">
      {after === '' ? null : (
        <button type="button" class="button" onClick={() => setArguments({ after: undefined })}>
          Newest
        </button>
      )}
      {next === null ? null : (
        <button type="button" class="button" onClick={() => setArguments({ after: next })}>
          Older
        </button>
      )}
    </div>
  )
}

function useAlerts(given: Record<string, string>) {
  const query = new URLSearchParams(Object.entries(given).filter(([, text]) => text !== ''))
  return useRefreshed<AlertPage>(addressOf(`/api/alerts?${query}`), { everyMs })
}

interface FiltersProps {
  severity: string
  device: string
  isByDevice: boolean
}

function Filters({ severity, device, isByDevice }: FiltersProps) {
  const [text, setText] = useState(device)
  return (
    <div class="fields filters">
      <label class="field">
        Severity
        <select
          value={severity}
          onChange={({ currentTarget }) => setArguments({ severity: currentTarget.value, after: undefined })}
        >
          <option value="">all</option>
          {severities.map(one => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        Device
        <input
          type="search"
          value={text}
          maxLength={256}
          placeholder="all"
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
        By device
      </label>
    </div>
  )
}

interface ListProps extends Omit<AlertRowsProps, 'alerts'> {
  title: string
  /** Where there are none; empty: the list is left out then. */
  none: string
  state: ResourceState<AlertPage>
  children?: ComponentChildren
}

function List({ title, none, state, children, ...rows }: ListProps) {
  const page = lastValue(state)
  const id = useId()
  if (page === undefined)
    return state.kind === 'loading' && none !== '' ? <Skeleton name={`${title} alerts are loading`} rows={3} /> : null
  const { alerts } = page
  if (alerts.length === 0 && none === '') return null
  return (
    <section aria-labelledby={id}>
      <h2 id={id} class="list-title">
        {title}{' '}
        {title === 'Resolved' ? null : (
          <span class="soft">
            {countText(alerts.length)}
            {page.next === null ? '' : '+'}
          </span>
        )}
      </h2>
      {alerts.length === 0 ? <p class="soft">{none}</p> : <AlertRows {...rows} alerts={alerts} />}
      {children}
    </section>
  )
}
