/** The fields of a channel, which its kind says. */

import type { Channel } from '../../../alerts/core/channel.ts'
import type { FormField, FormValues } from '../../parts/add-form.tsx'

export type ChannelKind = Channel['kind']

export const kindNames: Record<ChannelKind, string> = {
  email: 'E-mail',
  webhook: 'Webhook',
  ntfy: 'ntfy',
  slack: 'Slack, Mattermost or Discord',
  apprise: 'Apprise: Telegram, Matrix, Signal and others',
  alertmanager: 'Alertmanager',
  mqtt: 'MQTT',
}

interface Setting extends FormField {
  /** It is not shown again: left empty, it stays. */
  isSecret?: boolean
}

const url = (label: string, hint: string): Setting => ({ name: 'url', label, hint, isRequired: true, isSecret: true })

const settings: Record<ChannelKind, readonly Setting[]> = {
  email: [{ name: 'to', label: 'E-mail address', kind: 'email', isRequired: true }],
  webhook: [url('Address', 'Gets JSON by POST, signed after Standard Webhooks.')],
  ntfy: [
    url('Address of the topic', 'For example https://ntfy.sh/my-topic. Anyone who knows it can read the messages.'),
    { name: 'token', label: 'Access token', isSecret: true },
  ],
  slack: [url('Address of the incoming webhook', 'Of Discord, with /slack at its end.')],
  apprise: [
    url('Address of an API server of Apprise', 'For example https://apprise.example/notify/KEY.'),
    { name: 'urls', label: 'Addresses of services', hint: 'Where the address above ends in /notify.', isSecret: true },
    { name: 'tag', label: 'Tag', hint: 'Restricts the services of KEY.' },
  ],
  alertmanager: [
    url('Address', 'Before /api/v2/alerts, as https://alertmanager.example.com.'),
    { name: 'username', label: 'User name' },
    { name: 'password', label: 'Password', isSecret: true },
  ],
  mqtt: [
    { name: 'topic', label: 'Topic', hint: 'On the broker of the service.', isRequired: true },
    { name: 'retain', label: 'One retained message a device', kind: 'check' },
  ],
}

const nameField: FormField = { name: 'name', label: 'Name', isRequired: true }

export function kindFields(kind: ChannelKind): FormField[] {
  return [nameField, ...settings[kind]]
}

/** Fields of an existing channel; secrets are empty. */
export function changeFields({ kind, name, settings: shown }: Channel): FormField[] {
  const fields = settings[kind].map(({ isSecret = false, ...field }) => {
    if (!isSecret) return { ...field, value: shown[field.name] ?? null }
    return { ...field, isRequired: false, hint: 'Unchanged if empty.' }
  })
  return [{ ...nameField, value: name }, ...fields]
}

export function newChannel(kind: ChannelKind, values: FormValues): object {
  const given = settings[kind].map(({ name }) => [name, values[name]]).filter(([, value]) => value !== null)
  return { name: values['name'], kind, settings: Object.fromEntries(given) }
}

/** An empty field removes its setting, except for a secret, which stays. */
export function channelChange(kind: ChannelKind, values: FormValues): object {
  const given = settings[kind]
    .filter(({ name, isSecret = false }) => !isSecret || values[name] !== null)
    .map(({ name }) => [name, values[name]])
  return { name: values['name'], settings: Object.fromEntries(given) }
}
