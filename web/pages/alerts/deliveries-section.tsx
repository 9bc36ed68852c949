/** Sent notifications: the channel, the outcome, and each attempt with its answer. */

import { useEffect, useState } from 'preact/hooks'
import type { Channel } from '../../../alerts/core/channel.ts'
import type { Delivery, DeliveryDetails } from '../../../alerts/core/delivery.ts'
import { addressOf, urlArguments } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useRefreshed, useResource } from '../../client/use-resource.ts'
import { FilterField } from '../../parts/fields.tsx'
import { ListSection } from '../../parts/list-section.tsx'
import { FailureBanner, Skeleton } from '../../parts/loading.tsx'
import { SeverityBadge } from '../../parts/marks.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Record, RowButton } from '../../parts/record.tsx'
import type { Actions } from '../../parts/use-actions.tsx'
import { pageTimes, timeText } from '../../text/preferences.ts'
import { t, tc, tn, tp } from '../../words/words.ts'
import { type Attempted, attemptText } from './alert-words.ts'

interface DeliveryPage {
  deliveries: Delivery[]
  next: string | null
}

const stateNames = {
  waiting: t('waiting'),
  delivered: t('delivered'),
  given_up: t('given up'),
  cancelled: t('cancelled'),
} as const

const kindTexts: Record<Delivery['kind'], string> = {
  firing: tc('alert', 'fires'),
  resolved: t('is resolved'),
  repeat: t('still fires'),
  flapping: t('flaps'),
  refresh: t('still fires'),
  test: t('is a test'),
}

export function DeliveriesSection() {
  const [channel = '', state = ''] = ['channel', 'state'].map(name => urlArguments.value.get(name) ?? '')
  return (
    <>
      <Filters channel={channel} state={state} />
      <ListSection
        api="/api/alert-deliveries"
        path=""
        noun={t('deliveries')}
        counted={count => tn(count, '{count} delivery.', '{count} deliveries.')}
        pageArgument="after"
        more={{ channel, state }}
        everyMs={30_000}
        itemsOf={(page: DeliveryPage) => page.deliveries}
        keyOf={delivery => delivery.id}
        row={(delivery, actions) => <DeliveryRow delivery={delivery} actions={actions} />}
      />
    </>
  )
}

/** Filters for visitors who may have deliveries. */
function Filters({ channel, state }: { channel: string; state: string }) {
  const channels = lastValue(useResource<{ channels: Channel[] }>(addressOf('/api/alert-channels?limit=100')))?.channels
  if (channels === undefined) return null
  return (
    <div class="fields filters">
      <FilterField
        label={t('Channel')}
        argument="channel"
        chosen={channel}
        choices={channels.map(({ id, name }) => [String(id), name] as const)}
      />
      <FilterField label={t('State')} argument="state" chosen={state} choices={Object.entries(stateNames)} />
    </div>
  )
}

function DeliveryRow({ delivery, actions }: { delivery: Delivery; actions: Actions }) {
  const [isOpen, setOpen] = useState(false)
  const { id, channel, rule, kind, severity, state, written, attempts, created_at, due_at } = delivery
  const name = `${rule ?? t('A rule that was removed')} ${kindTexts[kind]}`
  const label = `${name}, ${timeText(created_at)}`
  const facts = [
    <Moment at={created_at} />,
    t('to {channel}', { channel }),
    written ? t('written to a file: no mail server') : stateNames[state],
    attempts === 0 ? undefined : tn(attempts, '{count} attempt', '{count} attempts'),
    state === 'waiting' && attempts > 0 ? tp('next {moment}', { moment: <Moment at={due_at} /> }) : undefined,
  ]
  const replay = () =>
    void actions.change<Attempted>('POST', `/${id}/replay`, undefined, sent => attemptText(`“${name}”`, sent))
  return (
    <>
      <Record name={kind === 'test' ? t('A test') : name} facts={facts} mark={<SeverityBadge severity={severity} />}>
        <RowButton name={label} text={t('Send again')} onClick={replay} />
        <RowButton name={label} text={t('Attempts')} isOpen={isOpen} onClick={() => setOpen(!isOpen)} />
      </Record>
      {isOpen ? <Attempts id={id} count={attempts} /> : null}
    </>
  )
}

/** `count`: when there are more, they are read again. */
function Attempts({ id, count }: { id: Delivery['id']; count: number }) {
  const { state, refresh } = useRefreshed<DeliveryDetails>(addressOf(`/api/alert-deliveries/${id}`))
  useEffect(refresh, [count])
  const attempts = lastValue(state)?.attempt_list
  if (attempts === undefined && state.kind === 'loading')
    return <Skeleton name={t('The attempts are loading')} rows={2} />
  return (
    <div class="history">
      <FailureBanner state={state} timeText={pageTimes().time} />
      {attempts?.length === 0 ? <p class="soft">{t('Nothing has been sent yet.')}</p> : null}
      <ol>
        {attempts?.map(({ at, status, duration_ms, error, answer, by_hand }) => (
          <li key={at}>
            {tp('{moment}: {reason}, after {duration} ms', {
              moment: <Moment at={at} />,
              reason: error ?? t('status {status}', { status: String(status) }),
              duration: duration_ms,
            })}
            {by_hand ? t(', by hand') : ''}
            {answer === '' ? null : <pre>{answer}</pre>}
          </li>
        ))}
      </ol>
    </div>
  )
}
