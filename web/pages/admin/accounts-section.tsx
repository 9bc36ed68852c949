/** The accounts of people: add, invite, roles, viewers, enabled and disabled; and their open invitations. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Status } from '../../../api/admin/status-answer.ts'
import type { AccountDetails, AccountPage, AddedAccount } from '../../../auth/accounts/account-details.ts'
import type { Invitation, InvitationPage, IssuedInvitation } from '../../../auth/accounts/invitation-details.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { roleNames } from '../../client/session.ts'
import { useResource } from '../../client/use-resource.ts'
import { AddForm, type FormField, type FormValues } from '../../parts/add-form.tsx'
import { ConfirmDialog, ConfirmedButton } from '../../parts/dialog.tsx'
import { Help, ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Definitions, Record, RowButton } from '../../parts/record.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import type { Actions } from '../../parts/use-actions.tsx'
import { t, tn, tp } from '../../words/words.ts'
import { readersText } from './status-facts.ts'

const fields: FormField[] = [
  { name: 'email', label: t('E-mail address'), kind: 'email', isRequired: true },
  { name: 'name', label: t('Name') },
]

const roleTexts = [
  [
    t('Operator'),
    t('Has full control; there is only one. Alone removes stations and makes alert rules about the service.'),
  ],
  [t('Administrator'), t('Manages all devices, accounts, API keys and stations.')],
  [t('User'), t('Has API keys, alerts, and the devices and stations that are theirs.')],
  [t('Viewer'), t('A user who may read all devices where reads are private.')],
] as const

export function AccountsSection() {
  const reads = lastValue(useResource<Status>(addressOf('/api/admin/status')))?.reads
  return (
    <Accounts>
      <Help name={t('roles')}>
        {reads === undefined ? null : <p>{readersText(reads)}</p>}
        <Definitions class="ways" entries={roleTexts} />
      </Help>
    </Accounts>
  )
}

function Accounts({ children }: { children: ComponentChildren }) {
  const [added, setAdded] = useState<AddedAccount>()
  const add = async (actions: Actions, values: FormValues) => {
    const account = await actions.change<AddedAccount>(
      'POST',
      '/accounts',
      values,
      t('{name} is added.', { name: String(values['email']) }),
    )
    setAdded(account)
    return account !== undefined
  }
  return (
    <ListSection
      path="/accounts"
      noun={t('accounts')}
      counted={count => tn(count, '{count} account.', '{count} accounts.')}
      hasSearch={true}
      itemsOf={(page: AccountPage) => page.accounts}
      keyOf={account => account.id}
      row={(account, actions) => <AccountRow account={account} actions={actions} />}
    >
      {actions => (
        <>
          {added === undefined || added.password_link === null ? null : (
            <SecretOnce
              title={t('A link for {email}', { email: added.email })}
              text={t(
                'Send it to them. It sets the password of the account, once and within an hour, and is shown only once.',
              )}
              parts={[{ name: t('Link'), text: added.password_link }]}
              onDone={() => setAdded(undefined)}
            />
          )}
          <div class="actions">
            <AddForm
              title={t('Add an account')}
              isStrong
              verb={t('Add')}
              fields={fields}
              isBusy={actions.isBusy}
              onSend={values => add(actions, values)}
            />
            <InviteForm actions={actions} />
            {children}
          </div>
        </>
      )}
    </ListSection>
  )
}

function AccountRow({ account, actions }: { account: AccountDetails; actions: Actions }) {
  const { id, email, name, role, is_active, email_verified, tenant_slug, created_at } = account
  const facts = [
    name ?? undefined,
    role === 'operator' || tenant_slug !== null ? roleNames[role] : undefined,
    is_active ? undefined : t('disabled'),
    email_verified === null && tenant_slug === null ? t('address not confirmed') : undefined,
    tenant_slug === null ? undefined : t('of {tenant}', { tenant: tenant_slug }),
    t('id {id}', { id }),
    tp('since {moment}', { moment: <Moment at={created_at} /> }),
  ]
  const change = (body: object, done: string) => void actions.change('PATCH', `/accounts/${id}`, body, done)
  const isOrdinary = tenant_slug === null
  return (
    <Record name={email} facts={facts}>
      {isOrdinary && email_verified === null ? (
        <RowButton
          name={email}
          text={t('Confirm the address')}
          onClick={() => change({ email_verified: true }, t('The address {email} is confirmed.', { email }))}
        />
      ) : null}
      {isOrdinary && role !== 'operator' ? <RoleSelect account={account} change={change} /> : null}
      {role === 'operator' ? null : <SwitchButton account={account} change={change} />}
    </Record>
  )
}

interface ChangeProps {
  account: AccountDetails
  change: (body: object, done: string) => void
}

const roleTitles = {
  administrator: t('Administrators manage all devices, accounts, API keys and stations.'),
  user: t(
    'Users manage only their own devices. Their API keys lose the permission to administer the service for good.',
  ),
}

function roleSentence(email: string, role: string): string {
  if (role === 'administrator') return t('{email} is now an administrator.', { email })
  return role === 'viewer' ? t('{email} is now a viewer.', { email }) : t('{email} is now a user.', { email })
}

/** A change between user and viewer is immediate. A change from or to administrator needs a confirmation. */
function RoleSelect({ account: { email, role, viewer }, change }: ChangeProps) {
  const [asked, setAsked] = useState<string>()
  const current = role === 'user' && viewer ? 'viewer' : role
  const set = (next: string) => change(roleFields(next), roleSentence(email, next))
  const choose = (next: string) => (role === 'user' && next !== 'administrator' ? set(next) : setAsked(next))
  return (
    <>
      <select
        aria-label={t('Role of {email}', { email })}
        value={asked ?? current}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        {roleChoices.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      {asked === undefined ? null : (
        <ConfirmDialog
          title={t('Change the role of {email} to {role}?', { email, role: roleNames[asked] ?? asked })}
          text={roleTitles[asked === 'administrator' ? asked : 'user']}
          name={email}
          verb={t('Change role')}
          onConfirm={() => set(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  )
}

function SwitchButton({ account: { email, is_active }, change }: ChangeProps) {
  if (!is_active) {
    return (
      <RowButton
        name={email}
        text={t('Enable')}
        onClick={() => change({ is_active: true }, t('{name} is enabled.', { name: email }))}
      />
    )
  }
  return (
    <ConfirmedButton
      title={t('Disable {email}?', { email })}
      text={t(
        'Their sessions, API keys and mailed links end at once. They stay ended when the account is enabled again.',
      )}
      name={email}
      verb={t('Disable')}
      onConfirm={() => change({ is_active: false }, t('{name} is disabled.', { name: email }))}
    />
  )
}

/** A viewer is a user with one more permission, and so one of the choices. */
const roleChoices = [
  { value: 'user', text: t('User') },
  { value: 'viewer', text: t('Viewer') },
  { value: 'administrator', text: t('Administrator') },
] as const

function roleFields(role: string) {
  return role === 'administrator' ? { role } : { role: 'user', viewer: role === 'viewer' }
}

const inviteFields: FormField[] = [
  { name: 'email', label: t('E-mail address'), kind: 'email', isRequired: true },
  { name: 'role', label: t('Role'), kind: 'choice', choices: roleChoices },
  { name: 'mail', label: t('Send a mail with a link'), kind: 'check', value: true },
]

/** Shows the link of the last invitation once. */
function InviteForm({ actions, isStrong = false }: { actions: Actions; isStrong?: boolean }) {
  const [invited, setInvited] = useState<IssuedInvitation>()
  const send = async ({ role, ...values }: FormValues) => {
    const body = { ...values, ...roleFields(String(role)) }
    const made = await actions.change<IssuedInvitation>(
      'POST',
      '/invitations',
      body,
      t('{email} is invited.', { email: String(values['email']) }),
    )
    setInvited(made)
    return made !== undefined
  }
  return (
    <>
      {invited === undefined ? null : (
        <SecretOnce
          title={t('A link for {email}', { email: invited.email })}
          text={t('Send it to them. It creates the account, once and within 7 days, and is shown only once.')}
          parts={[{ name: t('Link'), text: invited.link }]}
          onDone={() => setInvited(undefined)}
        />
      )}
      <AddForm
        title={t('Invite a person')}
        verb={t('Invite')}
        fields={inviteFields}
        {...{ isBusy: actions.isBusy, isStrong }}
        onSend={send}
      />
    </>
  )
}

export function InvitationsSection() {
  return (
    <ListSection
      path="/invitations"
      noun={t('open invitations')}
      counted={count => tn(count, '{count} open invitation.', '{count} open invitations.')}
      itemsOf={(page: InvitationPage) => page.invitations}
      keyOf={invitation => invitation.id}
      row={(invitation, actions) => <InvitationRow invitation={invitation} actions={actions} />}
    >
      {actions => <InviteForm actions={actions} isStrong />}
    </ListSection>
  )
}

function InvitationRow({ invitation, actions }: { invitation: Invitation; actions: Actions }) {
  const { id, email, role, viewer, invited_by, expires_at } = invitation
  const facts = [
    roleNames[role],
    viewer ? t('viewer') : undefined,
    t('by {name}', { name: invited_by }),
    tp('until {moment}', { moment: <Moment at={expires_at} /> }),
  ]
  const revoke = () =>
    void actions.change(
      'DELETE',
      `/invitations/${id}`,
      undefined,
      t('The invitation of {email} is revoked.', { email }),
    )
  return (
    <Record name={email} facts={facts}>
      <RowButton name={email} text={t('Revoke')} onClick={revoke} />
    </Record>
  )
}
