/** The accounts of people: add, invite, roles, viewers, enabled and disabled; and their open invitations. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Status } from '../../../api/admin/status-answer.ts'
import type { AccountDetails, AccountPage, AddedAccount } from '../../../auth/accounts/account-details.ts'
import type { Invitation, InvitationPage, IssuedInvitation } from '../../../auth/accounts/invitation-details.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { AddForm, type FormField, type FormValues } from '../../parts/add-form.tsx'
import { ConfirmDialog, ConfirmedButton } from '../../parts/dialog.tsx'
import { Help, ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Definitions, Record, RowButton } from '../../parts/record.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import type { Actions } from '../../parts/use-actions.tsx'
import { t, tn } from '../../words/words.ts'
import { readersText } from './status-facts.ts'

const fields: FormField[] = [
  { name: 'email', label: 'E-mail address', kind: 'email', isRequired: true },
  { name: 'name', label: 'Name' },
]

const roleTexts = [
  ['Operator', 'Has full control; there is only one. Alone removes stations and makes alert rules about the service.'],
  ['Administrator', 'Manages all devices, accounts, API keys and stations.'],
  ['User', 'Has API keys, alerts, and the devices and stations that are theirs.'],
  ['Viewer', 'A user who may read all devices where reads are private.'],
] as const

export function AccountsSection() {
  const reads = lastValue(useResource<Status>(addressOf('/api/admin/status')))?.reads
  return (
    <Accounts>
      <Help name="roles">
        {reads === undefined ? null : <p>{readersText(reads)}</p>}
        <Definitions class="ways" entries={roleTexts} />
      </Help>
    </Accounts>
  )
}

function Accounts({ children }: { children: ComponentChildren }) {
  const [added, setAdded] = useState<AddedAccount>()
  const add = async (actions: Actions, values: FormValues) => {
    const account = await actions.change<AddedAccount>('POST', '/accounts', values, `${values['email']} is added.`)
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
              title={`A link for ${added.email}`}
              text="Send it to them. It sets the password of the account, once and within an hour, and is shown only once."
              parts={[{ name: 'Link', text: added.password_link }]}
              onDone={() => setAdded(undefined)}
            />
          )}
          <div class="actions">
            <AddForm
              title="Add an account"
              isStrong
              verb="Add"
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
    role === 'operator' || tenant_slug !== null ? role : undefined,
    is_active ? undefined : 'disabled',
    email_verified === null && tenant_slug === null ? 'address not confirmed' : undefined,
    tenant_slug === null ? undefined : `of ${tenant_slug}`,
    `id ${id}`,
    <>
      since <Moment at={created_at} />
    </>,
  ]
  const change = (body: object, done: string) => void actions.change('PATCH', `/accounts/${id}`, body, done)
  const isOrdinary = tenant_slug === null
  return (
    <Record name={email} facts={facts}>
      {isOrdinary && email_verified === null ? (
        <RowButton
          name={email}
          text="Confirm the address"
          onClick={() => change({ email_verified: true }, `The address ${email} is confirmed.`)}
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
  administrator: 'Administrators manage all devices, accounts, API keys and stations.',
  user: 'Users manage only their own devices. Their API keys lose the permission to administer the service for good.',
}

function roleSentence(email: string, role: string): string {
  if (role === 'administrator') return `${email} is now an administrator.`
  return role === 'viewer' ? `${email} is now a viewer.` : `${email} is now a user.`
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
        aria-label={`Role of ${email}`}
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
          title={`Change the role of ${email} to ${asked}?`}
          text={roleTitles[asked === 'administrator' ? asked : 'user']}
          name={email}
          verb="Change role"
          onConfirm={() => set(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  )
}

function SwitchButton({ account: { email, is_active }, change }: ChangeProps) {
  if (!is_active) {
    return <RowButton name={email} text="Enable" onClick={() => change({ is_active: true }, `${email} is enabled.`)} />
  }
  return (
    <ConfirmedButton
      title={`Disable ${email}?`}
      text="Their sessions, API keys and mailed links end at once. They stay ended when the account is enabled again."
      name={email}
      verb="Disable"
      onConfirm={() => change({ is_active: false }, `${email} is disabled.`)}
    />
  )
}

/** A viewer is a user with one more permission, and so one of the choices. */
const roleChoices = [
  { value: 'user', text: 'User' },
  { value: 'viewer', text: 'Viewer' },
  { value: 'administrator', text: 'Administrator' },
] as const

function roleFields(role: string) {
  return role === 'administrator' ? { role } : { role: 'user', viewer: role === 'viewer' }
}

const inviteFields: FormField[] = [
  { name: 'email', label: 'E-mail address', kind: 'email', isRequired: true },
  { name: 'role', label: 'Role', kind: 'choice', choices: roleChoices },
  { name: 'mail', label: 'Send a mail with a link', kind: 'check', value: true },
]

/** Shows the link of the last invitation once. */
function InviteForm({ actions, isStrong = false }: { actions: Actions; isStrong?: boolean }) {
  const [invited, setInvited] = useState<IssuedInvitation>()
  const send = async ({ role, ...values }: FormValues) => {
    const body = { ...values, ...roleFields(String(role)) }
    const made = await actions.change<IssuedInvitation>('POST', '/invitations', body, `${values['email']} is invited.`)
    setInvited(made)
    return made !== undefined
  }
  return (
    <>
      {invited === undefined ? null : (
        <SecretOnce
          title={`A link for ${invited.email}`}
          text="Send it to them. It creates the account, once and within 7 days, and is shown only once."
          parts={[{ name: 'Link', text: invited.link }]}
          onDone={() => setInvited(undefined)}
        />
      )}
      <AddForm
        title="Invite a person"
        verb="Invite"
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
    role,
    viewer ? 'viewer' : undefined,
    `by ${invited_by}`,
    <>
      until <Moment at={expires_at} />
    </>,
  ]
  const revoke = () =>
    void actions.change('DELETE', `/invitations/${id}`, undefined, `The invitation of ${email} is revoked.`)
  return (
    <Record name={email} facts={facts}>
      <RowButton name={email} text="Revoke" onClick={revoke} />
    </Record>
  )
}
