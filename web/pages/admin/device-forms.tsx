/** The forms of the registry of devices: a new one, a list of many, and changes of one. */

import type { ListedDevice } from '../../../api/admin/answers.ts'
import type { IssuedPassword, Rotated } from '../../../auth/devices/device.ts'
import { AddForm, type FormField, type FormValues } from '../../parts/add-form.tsx'
import type { Actions } from '../../parts/use-actions.tsx'
import { t } from '../../words/words.ts'
import { deviceFields } from './device-fields.ts'
import { metricsIn, readDeviceList, tagsIn } from './device-list-csv.ts'

export type Issued = IssuedPassword | Rotated
/** Passwords that are shown once. */
export type Shown = { kind: 'one'; issued: Issued; battery: boolean } | { kind: 'many'; issued: IssuedPassword[] }

const metricsField: FormField = {
  name: 'metrics',
  label: t('Metrics'),
  hint: t('Stores only these, for example co2, temperature. If empty, all.'),
  isMore: true,
}
const tagsField: FormField = { name: 'tags', label: t('Tags'), hint: t('For example site:berlin, room:kitchen') }

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

export function NewDevice({ actions, onIssued }: Issuing) {
  const add = async (values: FormValues) => {
    const done = t('{name} is added.', { name: String(values['name']) })
    const issued = await actions.change<IssuedPassword>('POST', '/devices', settingsOf(values), done)
    if (issued !== undefined) onIssued({ kind: 'one', issued, battery: values['battery'] === true })
    return issued !== undefined
  }
  const fields = [{ name: 'name', label: t('Name'), isRequired: true }, ...deviceFields, metricsField, tagsField]
  return (
    <AddForm title={t('Add a device')} verb={t('Add')} fields={fields} isBusy={actions.isBusy} isStrong onSend={add} />
  )
}

export function DeviceList({ actions, onIssued }: Issuing) {
  const add = async (values: FormValues) => {
    const list = readDeviceList(String(values['list'] ?? ''))
    if (!list.ok) {
      actions.refuse(list.sentence)
      return false
    }
    const done = t('{count} devices are added.', { count: list.devices.length })
    const issued = await actions.change<IssuedPassword[]>('POST', '/devices', list.devices, done)
    if (issued !== undefined) onIssued({ kind: 'many', issued })
    return issued !== undefined
  }
  const field: FormField = {
    name: 'list',
    label: t('Devices as CSV'),
    kind: 'long',
    isRequired: true,
    hint: t('A header and a line for each: device,location_short,location_desc,battery,expected_interval_seconds,tags'),
  }
  return <AddForm title={t('Add a list')} verb={t('Add all')} fields={[field]} isBusy={actions.isBusy} onSend={add} />
}

interface EditDeviceProps {
  device: ListedDevice
  actions: Actions
  path: string
  onClose: () => void
}

export function EditDevice({ device, actions, path, onClose }: EditDeviceProps) {
  const change = async (values: FormValues) =>
    (await actions.change('PATCH', path, settingsOf(values), t('{name} is changed.', { name: device.name }))) !==
    undefined
  return (
    <AddForm
      title={t('Edit {name}', { name: device.name })}
      verb={t('Save')}
      fields={[
        ...deviceFields.map(field => ({ ...field, value: device[field.name] })),
        { ...metricsField, value: device.metrics?.join(', ') ?? '' },
        { ...tagsField, value: device.tags.join(', ') },
      ]}
      isBusy={actions.isBusy}
      isOpen={true}
      onSend={change}
      onClose={onClose}
    />
  )
}
