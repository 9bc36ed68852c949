/** Channels: where notifications go, with a test of each. */

import { useState } from 'preact/hooks'
import type { Channel, IssuedChannel } from '../../../alerts/core/channel.ts'
import { AddForm, type FormField, type FormValues } from '../../parts/add-form.tsx'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { ChoiceField } from '../../parts/fields.tsx'
import { ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Record, RowButton } from '../../parts/record.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import type { Actions } from '../../parts/use-actions.tsx'
import { t, tn, tp } from '../../words/words.ts'
import { type Attempted, attemptText } from './alert-words.ts'

interface ChannelPage {
  channels: Channel[]
  next: number | null
}

interface Issued {
  name: string
  secret: string
}

export function ChannelsSection() {
  const [issued, setIssued] = useState<Issued>()
  return (
    <ListSection
      api="/api/alert-channels"
      path=""
      noun={t('channels')}
      counted={count => tn(count, '{count} channel.', '{count} channels.')}
      pageArgument="after"
      itemsOf={(page: ChannelPage) => page.channels}
      keyOf={channel => channel.id}
      row={(channel, actions) => <ChannelRow channel={channel} actions={actions} onSecret={setIssued} />}
    >
      {actions => (
        <>
          {issued === undefined ? null : (
            <SecretOnce
              title={t('Secret of {name}', { name: issued.name })}
              text={t('Receivers verify signatures with it (Standard Webhooks). It is shown only once.')}
              parts={[{ name: t('Secret'), text: issued.secret }]}
              onDone={() => setIssued(undefined)}
            />
          )}
          <NewChannel actions={actions} onSecret={setIssued} />
        </>
      )}
    </ListSection>
  )
}

interface IssuingProps {
  actions: Actions
  onSecret: (issued: Issued) => void
}

/** The kind says which fields there are. */
function NewChannel({ actions, onSecret }: IssuingProps) {
  const [kind, setKind] = useState<ChannelKind>('email')
  const send = async (values: FormValues) => {
    const made = await actions.change<IssuedChannel>(
      'POST',
      '',
      newChannel(kind, values),
      t('{name} is added.', { name: String(values['name']) }),
    )
    if (made?.secret !== undefined) onSecret({ name: made.name, secret: made.secret })
    return made !== undefined
  }
  return (
    <AddForm
      title={t('Add a channel')}
      isStrong
      verb={t('Add')}
      fields={kindFields(kind)}
      isBusy={actions.isBusy}
      onSend={send}
    >
      <ChoiceField label={t('Kind')} value={kind} names={kindNames} onChange={setKind} />
    </AddForm>
  )
}

const disabledTexts: Record<NonNullable<Channel['disabled_reason']>, string> = {
  gone: t('off: its address has answered that it is gone'),
  failing: t('off: nothing has been delivered for five days'),
  unsubscribed: t('off: its recipient has unsubscribed'),
  crashed: t('off: two of its notifications ended the service'),
}

function ChannelRow({ channel, actions, onSecret }: IssuingProps & { channel: Channel }) {
  const [isEdited, setEdited] = useState(false)
  const { id, name, kind, target, notice, enabled, disabled_reason, failing_since } = channel
  const state = enabled ? undefined : disabled_reason === null ? t('off') : disabledTexts[disabled_reason]
  const failing =
    failing_since === null ? undefined : tp('fails since {moment}', { moment: <Moment at={failing_since} /> })
  const test = () =>
    void actions.change<Attempted>('POST', `/${id}/test`, undefined, tested =>
      attemptText(t('The test of {name}', { name }), tested),
    )
  const enable = () =>
    void actions.change(
      'PATCH',
      `/${id}`,
      { enabled: !enabled },
      enabled ? t('{name} is off.', { name }) : t('{name} is on.', { name }),
    )
  const rotate = async () => {
    const done = t('{name} has a new secret. The old one signs too for 24 hours.', { name })
    const made = await actions.change<IssuedChannel>('POST', `/${id}/rotate`, undefined, done)
    if (made?.secret !== undefined) onSecret({ name, secret: made.secret })
  }
  const save = async (values: FormValues) => {
    const body = channelChange(kind, values)
    return (await actions.change('PATCH', `/${id}`, body, t('{name} is changed.', { name }))) !== undefined
  }
  return (
    <>
      <Record name={name} facts={[kindNames[kind], target, notice ?? undefined, state, failing]}>
        <RowButton name={name} text={t('Send a test')} onClick={test} />
        <RowButton name={name} text={t('Edit')} onClick={() => setEdited(true)} />
        {kind === 'webhook' ? <RowButton name={name} text={t('New secret')} onClick={() => void rotate()} /> : null}
        <RowButton name={name} text={enabled ? t('Switch off') : t('Switch on')} onClick={enable} />
        <ConfirmedButton
          title={t('Remove {name}?', { name })}
          text={t('Rules stop notifying it. Pending notifications are dropped.')}
          name={name}
          verb={t('Remove')}
          onConfirm={() => void actions.change('DELETE', `/${id}`, undefined, t('{name} is removed.', { name }))}
        />
      </Record>
      {isEdited ? (
        <AddForm
          title={t('Edit {name}', { name })}
          verb={t('Save')}
          fields={changeFields(channel)}
          isBusy={actions.isBusy}
          isOpen
          onSend={save}
          onClose={() => setEdited(false)}
        />
      ) : null}
    </>
  )
}

type ChannelKind = Channel['kind']

const kindNames: Record<ChannelKind, string> = {
  email: 'E-mail',
  webhook: 'Webhook',
  ntfy: 'ntfy',
  slack: t('Slack, Mattermost or Discord'),
  apprise: t('Apprise: Telegram, Matrix, Signal and others'),
  alertmanager: 'Alertmanager',
  mqtt: 'MQTT',
}

interface Setting extends FormField {
  /** It is not shown again: left empty, it stays. */
  isSecret?: boolean
}

const url = (label: string, hint: string): Setting => ({ name: 'url', label, hint, isRequired: true, isSecret: true })

const settings: Record<ChannelKind, readonly Setting[]> = {
  email: [{ name: 'to', label: t('E-mail address'), kind: 'email', isRequired: true }],
  webhook: [url(t('Address'), t('Gets JSON by POST, signed after Standard Webhooks.'))],
  ntfy: [
    url(
      t('Address of the topic'),
      t('For example https://ntfy.sh/my-topic. Anyone who knows it can read the messages.'),
    ),
    { name: 'token', label: t('Access token'), isSecret: true },
  ],
  slack: [url(t('Address of the incoming webhook'), t('Of Discord, with /slack at its end.'))],
  apprise: [
    url(t('Address of an API server of Apprise'), t('For example https://apprise.example/notify/KEY.')),
    {
      name: 'urls',
      label: t('Addresses of services'),
      hint: t('Where the address above ends in /notify.'),
      isSecret: true,
    },
    { name: 'tag', label: t('Tag'), hint: t('Restricts the services of KEY.') },
  ],
  alertmanager: [
    url(t('Address'), t('Before /api/v2/alerts, as https://alertmanager.example.com.')),
    { name: 'username', label: t('User name') },
    { name: 'password', label: t('Password'), isSecret: true },
  ],
  mqtt: [
    { name: 'topic', label: t('Topic'), hint: t('On the broker of the service.'), isRequired: true },
    { name: 'retain', label: t('One retained message a device'), kind: 'check' },
  ],
}

const nameField: FormField = { name: 'name', label: t('Name'), isRequired: true }

function kindFields(kind: ChannelKind): FormField[] {
  return [nameField, ...settings[kind]]
}

/** Fields of an existing channel; secrets are empty. */
function changeFields({ kind, name, settings: shown }: Channel): FormField[] {
  const fields = settings[kind].map(({ isSecret = false, ...field }) => {
    if (!isSecret) return { ...field, value: shown[field.name] ?? null }
    return { ...field, isRequired: false, hint: t('Unchanged if empty.') }
  })
  return [{ ...nameField, value: name }, ...fields]
}

function newChannel(kind: ChannelKind, values: FormValues): object {
  const given = settings[kind].map(({ name }) => [name, values[name]]).filter(([, value]) => value !== null)
  return { name: values['name'], kind, settings: Object.fromEntries(given) }
}

/** An empty field removes its setting, except for a secret, which stays. */
function channelChange(kind: ChannelKind, values: FormValues): object {
  const given = settings[kind]
    .filter(({ name, isSecret = false }) => !isSecret || values[name] !== null)
    .map(({ name }) => [name, values[name]])
  return { name: values['name'], settings: Object.fromEntries(given) }
}
