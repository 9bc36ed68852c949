/** The rule's channels and the contents of its notifications. */

import { useEffect } from 'preact/hooks'
import type { Channel } from '../../../alerts/core/channel.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { ChoiceField } from '../../parts/fields.tsx'
import { Banner } from '../../parts/loading.tsx'
import { t } from '../../words/words.ts'
import type { RuleForm } from './rule-form.ts'

const severityNames = {
  info: t('info: worth knowing'),
  warning: t('warning: look at it today'),
  critical: t('critical: look at it now'),
} as const

export interface NotificationFieldsProps {
  form: RuleForm
  channels: readonly Channel[]
  isNew: boolean
  /** An address for mail while no channel exists. */
  mailTo: string | undefined
  onMailTo: (address: string | undefined) => void
  onChange: (change: Partial<RuleForm>) => void
}

export function NotificationFields({ form, channels, isNew, mailTo, onMailTo, onChange }: NotificationFieldsProps) {
  const isSilent = mailTo === undefined && !channels.some(({ id, enabled }) => enabled && form.channels.includes(id))
  return (
    <>
      <div class="fields">
        <ChoiceField
          label={t('Severity')}
          value={form.severity}
          names={severityNames}
          onChange={severity => onChange({ severity })}
        />
        <label class="field">
          {t('Tag of groups')}
          <input
            value={form.groupBy}
            maxLength={32}
            pattern="[a-z][a-z0-9_]*"
            autoComplete="off"
            onInput={({ currentTarget }) => onChange({ groupBy: currentTarget.value })}
          />
          <span class="soft">
            {t('Sends one message for each value of the tag, such as site. Empty: one message for all devices.')}
          </span>
        </label>
      </div>
      <fieldset class="channels">
        <legend>{t('Channels')}</legend>
        {channels.map(({ id, name, kind, target, notice, enabled }) => (
          <label key={id} class="check">
            <input
              type="checkbox"
              checked={form.channels.includes(id)}
              onChange={({ currentTarget }) =>
                onChange({ channels: toggled(form.channels, id, currentTarget.checked) })
              }
            />
            <span>
              {name}{' '}
              <span class="soft">
                {[kind, target, notice, enabled ? null : t('off')].filter(part => part !== null).join(', ')}
              </span>
            </span>
          </label>
        ))}
        {channels.length === 0 ? <MailToMe {...{ isNew, mailTo, onMailTo }} /> : null}
        {isSilent ? (
          <Banner kind="warn">{t('No enabled channel is chosen. Alerts of this rule only show on the pages.')}</Banner>
        ) : null}
      </fieldset>
      <label class="field">
        {t('Instructions')}
        <textarea
          class="prose"
          value={form.note}
          rows={3}
          maxLength={1024}
          onInput={({ currentTarget }) => onChange({ note: currentTarget.value })}
        />
        <span class="soft">{t('Included in every notification.')}</span>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={form.enabled}
          onChange={({ currentTarget }) => onChange({ enabled: currentTarget.checked })}
        />
        {t('Enabled')}
      </label>
    </>
  )
}

function toggled(ids: readonly number[], id: number, isChosen: boolean): number[] {
  const others = ids.filter(other => other !== id)
  return isChosen ? [...others, id] : others
}

/** Offers mail to an account without a channel. An existing rule does not change by itself. */
function MailToMe({ isNew, mailTo, onMailTo }: Pick<NotificationFieldsProps, 'isNew' | 'mailTo' | 'onMailTo'>) {
  const profile = lastValue(useResource<{ email: string; email_verified: string | null }>(addressOf('/v1/auth/me')))
  const isConfirmed = profile?.email_verified !== null
  const email = isConfirmed ? profile?.email : undefined
  useEffect(() => (isNew ? onMailTo(email) : undefined), [email, isNew])
  if (!isConfirmed) {
    return <p class="soft">{t('Confirm {email} on the account page to get mail.', { email: profile?.email ?? '' })}</p>
  }
  if (email === undefined) return null
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={mailTo !== undefined}
        onChange={({ currentTarget }) => onMailTo(currentTarget.checked ? email : undefined)}
      />
      {t('A mail to {email}', { email })}
    </label>
  )
}
