/** The rule's channels and the contents of its notifications. */

import { useEffect } from 'preact/hooks'
import type { Channel } from '../../../alerts/core/channel.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { ChoiceField } from '../../parts/fields.tsx'
import { Banner } from '../../parts/loading.tsx'
import type { RuleForm } from './rule-form.ts'

const severityNames = {
  info: 'info: worth knowing',
  warning: 'warning: look at it today',
  critical: 'critical: look at it now',
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
          label="Severity"
          value={form.severity}
          names={severityNames}
          onChange={severity => onChange({ severity })}
        />
        <label class="field">
          Tag of groups
          <input
            value={form.groupBy}
            maxLength={32}
            pattern="[a-z][a-z0-9_]*"
            autoComplete="off"
            onInput={({ currentTarget }) => onChange({ groupBy: currentTarget.value })}
          />
          <span class="soft">
            Sends one message for each value of the tag, such as site. Empty: one message for all devices.
          </span>
        </label>
      </div>
      <fieldset class="channels">
        <legend>Channels</legend>
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
                {[kind, target, notice, enabled ? null : 'off'].filter(part => part !== null).join(', ')}
              </span>
            </span>
          </label>
        ))}
        {channels.length === 0 ? <MailToMe {...{ isNew, mailTo, onMailTo }} /> : null}
        {isSilent ? (
          <Banner kind="warn">No enabled channel is chosen. Alerts of this rule only show on the pages.</Banner>
        ) : null}
      </fieldset>
      <label class="field">
        Instructions
        <textarea
          class="prose"
          value={form.note}
          rows={3}
          maxLength={1024}
          onInput={({ currentTarget }) => onChange({ note: currentTarget.value })}
        />
        <span class="soft">Included in every notification.</span>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={form.enabled}
          onChange={({ currentTarget }) => onChange({ enabled: currentTarget.checked })}
        />
        Enabled
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
    return <p class="soft">Confirm {profile?.email} on the account page to get mail.</p>
  }
  if (email === undefined) return null
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={mailTo !== undefined}
        onChange={({ currentTarget }) => onMailTo(currentTarget.checked ? email : undefined)}
      />
      A mail to {email}
    </label>
  )
}
