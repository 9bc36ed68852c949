/** Readings that were not stored: rejected, refused by QuestDB, or from devices that are not registered. */

import { useState } from 'preact/hooks'
import type {
  DamagedLetter,
  DeadLetter,
  DeadLetterPage,
  Rejection,
  RejectionPage,
  Replayed,
  UnknownDevicePage,
} from '../../../api/admin/answers.ts'
import type { IssuedPassword } from '../../../auth/devices/device.ts'
import { addressOf, setArguments, urlArguments } from '../../client/address.ts'
import { FilterField } from '../../parts/fields.tsx'
import { ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Definitions, Record as Row, RowButton } from '../../parts/record.tsx'
import type { Actions } from '../../parts/use-actions.tsx'
import { wayNames } from '../../text/ways-in.ts'
import { countText, t, tn, tp } from '../../words/words.ts'
import type { Shown } from './device-forms.tsx'
import { Passwords } from './devices-section.tsx'

const sentences: Record<Rejection['way'], string> = {
  put: t('One reading a request, to /api/log. The answer holds the reason.'),
  batch: t('Many readings a request, to /api/log/batch. The answer lists the first 1,000 reasons.'),
  line_protocol: t('Points of Telegraf and clients of InfluxDB. The answer names the first ten lines.'),
  mqtt: t('One reading a message. Only clients of MQTT 5 get the reason.'),
  webhook: t('A message of a sensor in a format of its own, to /in. The answer holds the reason.'),
  import: t('Files of an administrator. The command line prints the reasons.'),
  import_points: t('Files with points of stations, by an administrator.'),
  air_quality: t('Points of a station, by the API of the network. The answer names each point that is not stored.'),
}

export function RejectionsSection() {
  const [way = '', device = '', node = ''] = ['way', 'device', 'node'].map(name => urlArguments.value.get(name) ?? '')
  return (
    <>
      <Filters way={way} device={device} />
      <ListSection
        path="/rejections"
        noun={t('rejections')}
        counted={count => tn(count, '{count} rejection.', '{count} rejections.')}
        pageArgument="after"
        more={{ way, device, node }}
        nextArguments={({ node }: RejectionPage) => (node === undefined ? {} : { node: node.id })}
        summary={rejectionsSummary}
        itemsOf={(page: RejectionPage) => page.rejections}
        keyOf={rejection => rejection.id}
        row={rejection => <RejectionRow rejection={rejection} />}
      />
      <h2>{t('Ways in')}</h2>
      <Definitions
        class="ways"
        entries={(Object.keys(sentences) as Rejection['way'][]).map(way => [wayNames[way], sentences[way]] as const)}
      />
    </>
  )
}

function rejectionsSummary({ rejected, since, node }: RejectionPage) {
  if (node === undefined) {
    return tp('{count} rejected since {moment}. The latest 1,000 kinds are kept until a restart.', {
      count: countText(rejected),
      moment: <Moment at={since} />,
    })
  }
  return tp(
    '{count} rejected since {moment} at node {id} on {host}. The latest 1,000 kinds are kept until a restart. Each node has its own.',
    { count: countText(rejected), moment: <Moment at={since} />, id: node.id, host: node.host },
  )
}

function Filters({ way, device }: { way: string; device: string }) {
  return (
    <div class="fields">
      <FilterField
        label={t('Way')}
        argument="way"
        chosen={way}
        all={t('all ways')}
        choices={Object.entries(wayNames)}
      />
      <label class="field">
        {t('Device or station')}
        <input
          type="search"
          value={device}
          maxLength={256}
          onInput={({ currentTarget }) =>
            setArguments({ device: currentTarget.value, after: undefined, node: undefined }, { replace: true })
          }
        />
      </label>
    </div>
  )
}

function RejectionRow({ rejection }: { rejection: Rejection }) {
  const { at, first_at, way, device, sender, reason, count } = rejection
  const often =
    count === 1
      ? undefined
      : tp('{count} times since {moment}', { count: countText(count), moment: <Moment at={first_at} /> })
  return (
    <Row
      name={reason}
      facts={[<Moment at={at} />, wayNames[way], device ?? undefined, t('by {name}', { name: sender }), often]}
    />
  )
}

export function DeadLettersSection() {
  const table = urlArguments.value.get('table') === 'points' ? 'points' : 'readings'
  return (
    <>
      <label class="field search">
        {t('Of')}
        <select
          value={table}
          onChange={({ currentTarget }) => setArguments({ table: currentTarget.value, after: undefined })}
        >
          <option value="readings">{t('readings of devices')}</option>
          <option value="points">{t('points of stations')}</option>
        </select>
      </label>
      <ListSection
        path="/dead-letters"
        noun={t('dead letters')}
        counted={count => tn(count, '{count} dead letter.', '{count} dead letters.')}
        pageArgument="after"
        more={{ table }}
        itemsOf={(page: DeadLetterPage) => [...page.damaged, ...page.dead_letters]}
        keyOf={letter => letter.id}
        row={(letter, actions) =>
          'name' in letter ? (
            <DamagedRow letter={letter} actions={actions} />
          ) : (
            <LetterRow letter={letter} table={table} actions={actions} />
          )
        }
      >
        {({ isBusy, change }) => (
          <button
            type="button"
            class="button"
            disabled={isBusy}
            onClick={() => void change('POST', '/dead-letters/replay', { table }, replayedText)}
          >
            {t('Send all again')}
          </button>
        )}
      </ListSection>
    </>
  )
}

function replayedText({ damaged }: Replayed): string {
  return damaged === 0
    ? t('All are sent again.')
    : t('The others are sent again. {count} damaged stay: discard them.', { count: countText(damaged) })
}

function DamagedRow({ letter, actions }: { letter: DamagedLetter; actions: Actions }) {
  const { table, id, name, reason } = letter
  const discard = () =>
    void actions.change('POST', '/dead-letters/discard', { table, ids: [id] }, t('{name} is discarded.', { name }))
  return (
    <Row name={name} facts={[t('damaged'), reason]}>
      <RowButton name={name} text={t('Discard')} onClick={discard} />
    </Row>
  )
}

function LetterRow({ letter, table, actions }: { letter: DeadLetter; table: string; actions: Actions }) {
  const { id, at, reason, symbol, time, values } = letter
  const name = `${symbol} ${time}`
  const readings = Object.entries(values).map(([metric, value]) => `${metric} ${value ?? t('none')}`)
  const send = (action: 'replay' | 'discard', done: string) =>
    void actions.change('POST', `/dead-letters/${action}`, { table, ids: [id] }, done)
  return (
    <Row name={name} facts={[reason, readings.join(', '), tp('refused {moment}', { moment: <Moment at={at} /> })]}>
      <RowButton
        name={name}
        text={t('Send again')}
        onClick={() => send('replay', t('{name} is sent again.', { name }))}
      />
      <RowButton name={name} text={t('Discard')} onClick={() => send('discard', t('{name} is discarded.', { name }))} />
    </Row>
  )
}

type UnknownDevice = UnknownDevicePage['devices'][number]

export function UnknownDevicesSection() {
  const [secret, setSecret] = useState<Shown>()
  return (
    <ListSection
      path="/unknown-devices"
      noun={t('unknown devices')}
      counted={count => tn(count, '{count} unknown device.', '{count} unknown devices.')}
      summary={unknownDevicesSummary}
      itemsOf={(page: UnknownDevicePage) => page.devices}
      keyOf={({ sender, name }) => `${sender} ${name}`}
      row={(device, actions) => <UnknownDeviceRow device={device} actions={actions} onIssued={setSecret} />}
    >
      {() => (
        <>
          {secret === undefined ? null : <Passwords shown={secret} onDone={() => setSecret(undefined)} />}
          <a class="button" href={addressOf('/docs/sensors')}>
            {t('How sensors send')}
          </a>
        </>
      )}
    </ListSection>
  )
}

function unknownDevicesSummary({ since, node }: UnknownDevicePage) {
  if (node === undefined) {
    return tp(
      'Webhooks and brokers delivered messages of these devices since {moment}. Their readings are not stored until the devices are added.',
      { moment: <Moment at={since} /> },
    )
  }
  return tp(
    'Webhooks and brokers delivered messages of these devices since {moment} at node {id} on {host}. Their readings are not stored until the devices are added. Each node has its own list.',
    { moment: <Moment at={since} />, id: node.id, host: node.host },
  )
}

interface RowProps {
  device: UnknownDevice
  actions: Actions
  onIssued: (shown: Shown) => void
}

function UnknownDeviceRow({ device, actions, onIssued }: RowProps) {
  const { name, way, sender, owner, family, at, first_at, messages, metrics } = device
  const add = async () => {
    const issued = await actions.change<IssuedPassword>(
      'POST',
      '/devices',
      { name, owner },
      t('{name} is added.', { name }),
    )
    if (issued !== undefined) onIssued({ kind: 'one', issued, battery: false })
  }
  const facts = [
    way === 'mqtt' ? t('{family} by MQTT', { family }) : t('{family} by webhook', { family }),
    owner === null ? undefined : t('{sender} of account {owner}', { sender, owner }),
    metrics.join(', '),
    tp('last seen {moment}', { moment: <Moment at={at} /> }),
    <>
      {tn(messages, '{count} message', '{count} messages')} {tp('since {moment}', { moment: <Moment at={first_at} /> })}
    </>,
  ]
  return (
    <Row name={name} facts={facts}>
      <RowButton name={name} text={t('Add')} onClick={() => void add()} />
    </Row>
  )
}
