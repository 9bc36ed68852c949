/** The registry of devices as a table: add, change, switch, new passwords, removal, changes of many, and a list of many. */

import { useEffect, useState } from 'preact/hooks'
import type { AdminDevicePage, ListedDevice } from '../../../api/admin/answers.ts'
import type { Status } from '../../../api/admin/status-answer.ts'
import type { Rotated } from '../../../auth/devices/device.ts'
import type { ReadingEvent } from '../../../query/live/events/event-shape.ts'
import { addressOf, setArguments, urlArguments } from '../../client/address.ts'
import { openEvents } from '../../client/events.ts'
import { lastValue } from '../../client/resource-state.ts'
import { devicePath } from '../../client/routes.ts'
import { useResource } from '../../client/use-resource.ts'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { ListSection } from '../../parts/list-section.tsx'
import { StateBadge, TagList } from '../../parts/marks.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Facts, RowMenu } from '../../parts/record.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { passwordsCsv } from '../../parts/selection.ts'
import { SelectionBar } from '../../parts/selection-bar.tsx'
import type { Actions } from '../../parts/use-actions.tsx'
import { useSelection } from '../../parts/use-selection.ts'
import { HeaderCell } from '../../parts/virtual-table.tsx'
import { timeText } from '../../text/preferences.ts'
import { curlLine, lineProtocolLine, microPythonProgram, mqttLine, pythonProgram } from '../../text/ways-in.ts'
import { t, tn, tp } from '../../words/words.ts'
import { DeviceList, EditDevice, type Issued, NewDevice, type Shown } from './device-forms.tsx'

const columns = [
  { key: 'name', label: t('Device') },
  { key: 'state', label: t('State') },
  { key: 'place', label: t('Place') },
  { key: 'tags', label: t('Tags'), isSortable: false },
  { key: 'last_reading', label: t('Last reading') },
]

export function DevicesSection() {
  const [secret, setSecret] = useState<Shown>()
  const shown = urlArguments.value
  const sort = shown.get('sort') ?? 'name'
  const { selection, select } = useSelection(`${shown.get('q')} ${shown.get('page')}`)
  const chosen = selection?.names ?? new Set()
  const toggle = selection?.toggle ?? ((name: string) => select(new Set([name])))
  return (
    <ListSection
      path="/devices"
      noun={t('devices')}
      counted={count => tn(count, '{count} device.', '{count} devices.')}
      hasSearch={true}
      more={{ sort }}
      itemsOf={(page: AdminDevicePage) => page.devices}
      keyOf={device => device.name}
      head={devices => <Head sort={sort} names={devices.map(({ name }) => name)} chosen={chosen} onSelect={select} />}
      bar={actions =>
        selection === undefined ? null : <SelectionBar names={chosen} onSelect={select} onChanged={actions.refresh} />
      }
      row={(device, actions) => (
        <DeviceRow
          device={device}
          actions={actions}
          isChosen={chosen.has(device.name)}
          onToggle={() => toggle(device.name)}
          onIssued={issued => setSecret({ kind: 'one', issued, battery: device.battery })}
        />
      )}
    >
      {actions => (
        <>
          {secret === undefined ? null : <Passwords shown={secret} onDone={() => setSecret(undefined)} />}
          <NewDevice actions={actions} onIssued={setSecret} />
          <DeviceList actions={actions} onIssued={setSecret} />
        </>
      )}
    </ListSection>
  )
}

interface HeadProps {
  sort: string
  names: readonly string[]
  chosen: ReadonlySet<string>
  onSelect: (names: ReadonlySet<string>) => void
}

function Head({ sort, names, chosen, onSelect }: HeadProps) {
  const isDescending = sort.startsWith('-')
  const key = sort.slice(isDescending ? 1 : 0)
  const isAll = names.every(name => chosen.has(name))
  const onSort = (next: string) =>
    setArguments({ sort: next === key && !isDescending ? `-${next}` : next, page: undefined })
  return (
    <tr>
      <th scope="col" class="select">
        <input
          type="checkbox"
          aria-label={t('Select all on this page')}
          checked={isAll}
          indeterminate={!isAll && chosen.size > 0}
          onChange={() => onSelect(new Set(isAll ? [] : names))}
        />
      </th>
      {columns.map(column => (
        <HeaderCell
          key={column.key}
          column={{ isSortable: true, ...column }}
          {...{ sort: { key, isDescending }, onSort }}
        />
      ))}
      <th scope="col" class="actions-of">
        <span class="unseen">{t('Actions')}</span>
      </th>
    </tr>
  )
}

export function Passwords({ shown, onDone }: { shown: Shown; onDone: () => void }) {
  const port = lastValue(useResource<Status>(addressOf('/api/admin/status')))?.mqtt_port ?? null
  if (shown.kind === 'many') {
    const parts = [{ name: t('Names and passwords, as CSV'), text: passwordsCsv(shown.issued) }]
    const text = t('Copy them now. They are shown only once.')
    return <SecretOnce title={t('Passwords of the new devices')} text={text} parts={parts} onDone={onDone} />
  }
  const { issued, battery } = shown
  const sender = { url: new URL(addressOf('/'), location.href).href, ...issued, battery }
  const until = 'old_password_until' in issued ? issued.old_password_until : null
  return (
    <SecretOnce
      title={t('Password of {device}', { device: issued.device })}
      text={
        until === null
          ? t('Copy it now. It is shown only once.')
          : t('Copy it now. It is shown only once. The old password is valid until {time}.', { time: timeText(until) })
      }
      parts={[
        { name: t('Password'), text: issued.password },
        { name: t('A reading by curl'), text: curlLine(sender) },
        { name: t('By InfluxDB line protocol'), text: lineProtocolLine(sender) },
        ...(port === null ? [] : [{ name: t('By MQTT'), text: mqttLine(sender, port) }]),
        { name: t('By Python'), text: pythonProgram(sender) },
        { name: t('By MicroPython'), text: microPythonProgram(sender) },
      ]}
      onDone={onDone}
    >
      <FirstReading device={issued.device} />
    </SecretOnce>
  )
}

/** Shows that a reading has arrived, so that a person sees whether a command or a program works. */
function FirstReading({ device }: { device: string }) {
  const [reading, setReading] = useState<ReadingEvent['data']>()
  useEffect(
    () =>
      openEvents(addressOf(`/api/events?device=${encodeURIComponent(device)}`), {
        on: { reading: setReading },
        onLive: () => {},
        onGap: () => {},
      }),
    [device],
  )
  return (
    <p role="status">
      {reading === undefined
        ? t('The next reading appears here when it arrives.')
        : tp('A reading of {moment} has arrived. {link}', {
            moment: <Moment at={reading.ts} />,
            link: <a href={addressOf(devicePath(device))}>{t('Open the page')}</a>,
          })}
    </p>
  )
}

interface DeviceRowProps {
  device: ListedDevice
  actions: Actions
  isChosen: boolean
  onToggle: () => void
  onIssued: (issued: Issued) => void
}

function DeviceRow({ device, actions, isChosen, onToggle, onIssued }: DeviceRowProps) {
  const [asked, setAsked] = useState<'edit' | 'remove'>()
  const { name, log_switch, state, location_short, tags, last_reading } = device
  const path = `/devices/${encodeURIComponent(name)}`
  const rotate = async () => {
    const issued = await actions.change<Rotated>(
      'POST',
      `${path}/rotate`,
      undefined,
      t('{name} has a new password.', { name }),
    )
    if (issued !== undefined) onIssued(issued)
  }
  const turned = log_switch ? t('{name} is suspended.', { name }) : t('{name} is resumed.', { name })
  const turn = () => actions.change('PATCH', path, { log_switch: !log_switch }, turned)
  const remove = async () => {
    await actions.change('DELETE', path, undefined, t('{name} is removed.', { name }))
    if (isChosen) onToggle()
  }
  const close = () => setAsked(undefined)
  return (
    <>
      <tr>
        <td class="select">
          <input type="checkbox" aria-label={t('Select {name}', { name })} checked={isChosen} onChange={onToggle} />
        </td>
        <td class="name">
          <a href={addressOf(devicePath(name))}>{name}</a>
          <Notes {...device} />
        </td>
        <td class="state">{state === null ? t('unknown') : <StateBadge state={state} />}</td>
        <td class="place">{location_short}</td>
        <td class="tags">{tags.length === 0 ? null : <TagList tags={tags} />}</td>
        <td class="last_reading">
          <Moment at={last_reading} />
        </td>
        <td class="actions-of">
          <RowMenu
            name={name}
            actions={[
              { text: t('Edit'), onClick: () => setAsked('edit') },
              { text: log_switch ? t('Suspend') : t('Resume'), onClick: () => void turn() },
              { text: t('New password'), onClick: () => void rotate() },
              { text: t('Remove'), onClick: () => setAsked('remove'), isDanger: true },
            ]}
          />
          {asked === 'remove' ? (
            <ConfirmDialog
              title={t('Remove {name}?', { name })}
              text={t('Its password ends at once. Its readings are kept but no longer shown under a device.')}
              name={name}
              verb={t('Remove')}
              onConfirm={() => void remove()}
              onClose={close}
            />
          ) : null}
        </td>
      </tr>
      {asked === 'edit' ? (
        <tr>
          <td colSpan={columns.length + 2}>
            <EditDevice device={device} actions={actions} path={path} onClose={close} />
          </td>
        </tr>
      ) : null}
    </>
  )
}

/** The owner and an old password that is still valid, where there is one. */
function Notes({ owner, credential, old_password_until }: ListedDevice) {
  const facts = [
    owner === null ? undefined : t('owner {name}', { name: owner }),
    credential === 'rotating'
      ? tp('old password until {moment}', { moment: <Moment at={old_password_until} /> })
      : undefined,
  ]
  return facts.every(fact => fact === undefined) ? null : (
    <p class="soft">
      <Facts facts={facts} />
    </p>
  )
}
