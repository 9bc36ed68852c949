/** Devices that send in formats of sensors and are not registered: a button registers one. */

import { useState } from 'preact/hooks'
import { countText } from '../../../analytics/findings/value-words.ts'
import type { UnknownDevicePage } from '../../../api/admin/rejection-answers.ts'
import type { IssuedPassword } from '../../../auth/devices/device.ts'
import { addressOf } from '../../client/address.ts'
import { type Actions, ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Record } from '../../parts/record.tsx'
import { RowButton } from '../../parts/row-button.tsx'
import { Passwords, type Shown } from './devices-section.tsx'

type UnknownDevice = UnknownDevicePage['devices'][number]

export function UnknownDevicesSection() {
  const [secret, setSecret] = useState<Shown>()
  return (
    <ListSection
      path="/unknown-devices"
      noun="unknown devices"
      summary={summaryOf}
      itemsOf={(page: UnknownDevicePage) => page.devices}
      keyOf={({ sender, name }) => `${sender} ${name}`}
      row={(device, actions) => <UnknownDeviceRow device={device} actions={actions} onIssued={setSecret} />}
    >
      {() => (
        <>
          {secret === undefined ? null : <Passwords shown={secret} onDone={() => setSecret(undefined)} />}
          <a class="button" href={addressOf('/docs/sensors')}>
            How sensors send
          </a>
        </>
      )}
    </ListSection>
  )
}

function summaryOf({ since, node }: UnknownDevicePage) {
  const at = node === undefined ? '' : ` at node ${node.id} on ${node.host}`
  const others = node === undefined ? '' : ' Each node has its own list.'
  return (
    <>
      Webhooks and brokers delivered messages of these devices since <Moment at={since} />
      {at}. Their readings are not stored until the devices are added.{others}
    </>
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
    const issued = await actions.change<IssuedPassword>('POST', '/devices', { name, owner }, `${name} is added.`)
    if (issued !== undefined) onIssued({ kind: 'one', issued, battery: false })
  }
  const facts = [
    `${family} by ${way === 'mqtt' ? 'MQTT' : 'webhook'}`,
    owner === null ? undefined : `${sender} of account ${owner}`,
    metrics.join(', '),
    <>
      last seen <Moment at={at} />
    </>,
    <>
      {countText(messages)} {messages === 1 ? 'message' : 'messages'} since <Moment at={first_at} />
    </>,
  ]
  return (
    <Record name={name} facts={facts}>
      <RowButton name={name} text="Add" onClick={() => void add()} />
    </Record>
  )
}
