/** The registry of devices: add, change, switch, new passwords, removal, and a list of many. */

import { useEffect, useState } from 'preact/hooks'
import type { Status } from '../../../api/admin/status-answer.ts'
import type { DeviceDetails, IssuedPassword, Rotated } from '../../../auth/devices/device.ts'
import type { DevicePage } from '../../../auth/devices/device-page.ts'
import type { ReadingEvent } from '../../../query/live/events/event-shape.ts'
import { addressOf } from '../../client/address.ts'
import { openEvents } from '../../client/events.ts'
import { lastValue } from '../../client/resource-state.ts'
import { devicePath } from '../../client/routes.ts'
import { useResource } from '../../client/use-resource.ts'
import { AddForm, type FormField, type FormValues } from '../../parts/add-form.tsx'
import { ConfirmedButton } from '../../parts/confirmed-button.tsx'
import type { Fact } from '../../parts/facts.tsx'
import { type Actions, ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Record } from '../../parts/record.tsx'
import { RowButton } from '../../parts/row-button.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { timeText } from '../../text/page-times.ts'
import { passwordsCsv } from '../../text/passwords-csv.ts'
import { batteryChoices, profileChoices } from './device-choices.ts'
import { metricsIn, readDeviceList, tagsIn } from './device-list-csv.ts'
import { curlLine, lineProtocolLine, microPythonProgram, mqttLine, pythonProgram } from './ready-lines.ts'

type Issued = IssuedPassword | Rotated
export type Shown = { kind: 'one'; issued: Issued; battery: boolean } | { kind: 'many'; issued: IssuedPassword[] }

export function DevicesSection() {
  const [secret, setSecret] = useState<Shown>()
  return (
    <ListSection
      path="/devices"
      noun="devices"
      hasSearch={true}
      itemsOf={(page: DevicePage) => page.devices}
      keyOf={device => device.name}
      row={(device, actions) => (
        <DeviceRow
          device={device}
          actions={actions}
          onIssued={issued => setSecret({ kind: 'one', issued, battery: device.battery })}
        />
      )}
    >
      {actions => (
        <>
          {secret === undefined ? null : <Passwords shown={secret} onDone={() => setSecret(undefined)} />}
          <div class="actions">
            <NewDevice actions={actions} onIssued={setSecret} />
            <DeviceList actions={actions} onIssued={setSecret} />
          </div>
        </>
      )}
    </ListSection>
  )
}

const settings: (FormField & { name: keyof Omit<DeviceDetails, 'quality_limits' | 'metrics' | 'tags'> })[] = [
  { name: 'location_short', label: 'Place' },
  { name: 'expected_interval_seconds', label: 'Seconds between readings', kind: 'number', hint: 'Estimated if empty' },
  { name: 'battery', label: 'Sends battery voltage and charge', kind: 'check' },
  { name: 'location_desc', label: 'Description', isMore: true },
  { name: 'altitude_m', label: 'Altitude (m)', kind: 'number', isMore: true },
  { name: 'latitude', label: 'Latitude (°)', kind: 'number', hint: 'South is negative', isMore: true },
  { name: 'longitude', label: 'Longitude (°)', kind: 'number', hint: 'West is negative', isMore: true },
  { name: 'profile', label: 'Profile', kind: 'choice', choices: profileChoices, hint: 'Adds statistics', isMore: true },
  { name: 'battery_type', label: 'Battery type', kind: 'choice', choices: batteryChoices, isMore: true },
  { name: 'battery_cells', label: 'Cells in series', kind: 'number', hint: 'One if empty', isMore: true },
]

const metricsField: FormField = {
  name: 'metrics',
  label: 'Metrics',
  hint: 'Stores only these, for example co2, temperature. If empty, all.',
  isMore: true,
}
const tagsField: FormField = { name: 'tags', label: 'Tags', hint: 'For example site:berlin, room:kitchen' }

/** A text that is left empty is one, and no null. */
function settingsOf({ location_short, location_desc, metrics, tags, ...rest }: FormValues): object {
  const listed = metricsIn(String(metrics ?? ''))
  return {
    ...rest,
    location_short: location_short ?? '',
    location_desc: location_desc ?? '',
    metrics: listed.length === 0 ? null : listed,
    tags: tagsIn(String(tags ?? '')),
  }
}

interface Issuing {
  actions: Actions
  onIssued: (shown: Shown) => void
}

function NewDevice({ actions, onIssued }: Issuing) {
  const add = async (values: FormValues) => {
    const done = `${values['name']} is added.`
    const issued = await actions.change<IssuedPassword>('POST', '/devices', settingsOf(values), done)
    if (issued !== undefined) onIssued({ kind: 'one', issued, battery: values['battery'] === true })
    return issued !== undefined
  }
  const fields = [{ name: 'name', label: 'Name', isRequired: true }, ...settings, metricsField, tagsField]
  return <AddForm title="Add a device" verb="Add" fields={fields} isBusy={actions.isBusy} onSend={add} />
}

function DeviceList({ actions, onIssued }: Issuing) {
  const add = async (values: FormValues) => {
    const list = readDeviceList(String(values['list'] ?? ''))
    if (!list.ok) {
      actions.refuse(list.sentence)
      return false
    }
    const done = `${list.devices.length} devices are added.`
    const issued = await actions.change<IssuedPassword[]>('POST', '/devices', list.devices, done)
    if (issued !== undefined) onIssued({ kind: 'many', issued })
    return issued !== undefined
  }
  const field: FormField = {
    name: 'list',
    label: 'Devices as CSV',
    kind: 'long',
    isRequired: true,
    hint: 'A header and a line for each: device,location_short,location_desc,battery,expected_interval_seconds,tags',
  }
  return <AddForm title="Add a list" verb="Add all" fields={[field]} isBusy={actions.isBusy} onSend={add} />
}

export function Passwords({ shown, onDone }: { shown: Shown; onDone: () => void }) {
  const port = lastValue(useResource<Status>(addressOf('/api/admin/status')))?.mqtt_port ?? null
  if (shown.kind === 'many') {
    const parts = [{ name: 'Names and passwords, as CSV', text: passwordsCsv(shown.issued) }]
    const text = 'Copy them now. They are shown only once.'
    return <SecretOnce title="Passwords of the new devices" text={text} parts={parts} onDone={onDone} />
  }
  const { issued, battery } = shown
  const sender = { url: new URL(addressOf('/'), location.href).href, ...issued, battery }
  const until = 'old_password_until' in issued ? issued.old_password_until : null
  const old = until === null ? '' : ` The old password is valid until ${timeText(until)}.`
  return (
    <SecretOnce
      title={`Password of ${issued.device}`}
      text={`Copy it now. It is shown only once.${old}`}
      parts={[
        { name: 'Password', text: issued.password },
        { name: 'A reading by curl', text: curlLine(sender) },
        { name: 'By InfluxDB line protocol', text: lineProtocolLine(sender) },
        ...(port === null ? [] : [{ name: 'By MQTT', text: mqttLine(sender, port) }]),
        { name: 'By Python', text: pythonProgram(sender) },
        { name: 'By MicroPython', text: microPythonProgram(sender) },
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
      {reading === undefined ? (
        'The next reading appears here when it arrives.'
      ) : (
        <>
          A reading of <Moment at={reading.ts} /> has arrived. <a href={addressOf(devicePath(device))}>Open the page</a>
        </>
      )}
    </p>
  )
}

interface DeviceRowProps {
  device: DeviceDetails
  actions: Actions
  onIssued: (issued: Issued) => void
}

function DeviceRow({ device, actions, onIssued }: DeviceRowProps) {
  const [isEditing, setEditing] = useState(false)
  const { name, log_switch } = device
  const path = `/devices/${encodeURIComponent(name)}`
  const rotate = async () => {
    const issued = await actions.change<Rotated>('POST', `${path}/rotate`, undefined, `${name} has a new password.`)
    if (issued !== undefined) onIssued(issued)
  }
  const change = async (values: FormValues) =>
    (await actions.change('PATCH', path, settingsOf(values), `${name} is changed.`)) !== undefined
  const turn = () =>
    actions.change('PATCH', path, { log_switch: !log_switch }, `${name} is ${log_switch ? 'suspended' : 'resumed'}.`)
  return (
    <>
      <Record name={name} href={addressOf(devicePath(name))} facts={factsOf(device)}>
        <RowButton name={name} text="Edit" onClick={() => setEditing(true)} />
        <RowButton name={name} text={log_switch ? 'Suspend' : 'Resume'} onClick={() => void turn()} />
        <RowButton name={name} text="New password" onClick={() => void rotate()} />
        <ConfirmedButton
          title={`Remove ${name}?`}
          text="Its password ends at once. Its readings are kept but no longer shown under a device."
          name={name}
          verb="Remove"
          onConfirm={() => void actions.change('DELETE', path, undefined, `${name} is removed.`)}
        />
      </Record>
      {isEditing ? (
        <AddForm
          title={`Edit ${name}`}
          verb="Save"
          fields={[
            ...settings.map(field => ({ ...field, value: device[field.name] })),
            { ...metricsField, value: device.metrics?.join(', ') ?? '' },
            { ...tagsField, value: device.tags.join(', ') },
          ]}
          isBusy={actions.isBusy}
          isOpen={true}
          onSend={change}
          onClose={() => setEditing(false)}
        />
      ) : null}
    </>
  )
}

function factsOf(device: DeviceDetails): Fact[] {
  const { location_short, log_switch, last_seen, owner, credential, tags } = device
  return [
    location_short,
    tags.join(', '),
    log_switch ? undefined : 'suspended',
    last_seen === null ? (
      'has not sent a reading itself; imports do not count'
    ) : (
      <>
        last reading <Moment at={last_seen} />
      </>
    ),
    owner === null ? undefined : `owner ${owner}`,
    credential === 'rotating' ? (
      <>
        old password until <Moment at={device.old_password_until} />
      </>
    ) : undefined,
  ]
}
