/** The accounts of people: add, invite, roles, viewers, enabled and disabled. */

import { useState } from 'preact/hooks'
import type { Status } from '../../../api/admin/status-answer.ts'
import type { AccountDetails, AccountPage, AddedAccount } from '../../../auth/accounts/account-details.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { AddForm, type FormField, type FormValues } from '../../parts/add-form.tsx'
import { ConfirmedButton } from '../../parts/confirmed-button.tsx'
import { type Actions, ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Record } from '../../parts/record.tsx'
import { RowButton } from '../../parts/row-button.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { InviteForm } from './invitations-section.tsx'
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
    <>
      <Accounts />
      <h2>Roles</h2>
      {reads === undefined ? null : <p>{readersText(reads)}</p>}
      <dl class="ways">
        {roleTexts.map(([name, sentence]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{sentence}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

function Accounts() {
  const [added, setAdded] = useState<AddedAccount>()
  const add = async (actions: Actions, values: FormValues) => {
    const account = await actions.change<AddedAccount>('POST', '/accounts', values, `${values['email']} is added.`)
    setAdded(account)
    return account !== undefined
  }
  return (
    <ListSection
      path="/accounts"
      noun="accounts"
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
              verb="Add"
              fields={fields}
              isBusy={actions.isBusy}
              onSend={values => add(actions, values)}
            />
            <InviteForm actions={actions} />
          </div>
        </>
      )}
    </ListSection>
  )
}

function AccountRow({ account, actions }: { account: AccountDetails; actions: Actions }) {
  const { id, email, name, role, viewer, is_active, email_verified, tenant_slug, created_at } = account
  const facts = [
    name ?? undefined,
    role,
    viewer ? 'viewer' : undefined,
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
      {isOrdinary && role !== 'operator' ? <RoleButton account={account} change={change} /> : null}
      {role === 'user' ? <ViewerButton account={account} change={change} /> : null}
      {role === 'operator' ? null : <SwitchButton account={account} change={change} />}
    </Record>
  )
}

interface ChangeProps {
  account: AccountDetails
  change: (body: object, done: string) => void
}

const roles = {
  administrator: 'Administrators manage all devices, accounts, API keys and stations.',
  user: 'Users manage only their own devices. Their API keys lose the permission to administer the service for good.',
}

function RoleButton({ account: { email, role: from }, change }: ChangeProps) {
  const role = from === 'administrator' ? 'user' : 'administrator'
  return (
    <ConfirmedButton
      title={`Change the role of ${email} to ${role}?`}
      text={roles[role]}
      name={email}
      verb={`Change role to ${role}`}
      onConfirm={() => change({ role }, `${email} is now ${role === 'user' ? 'a user' : 'an administrator'}.`)}
    />
  )
}

function ViewerButton({ account: { email, viewer }, change }: ChangeProps) {
  return (
    <RowButton
      name={email}
      text={viewer ? 'Remove as viewer' : 'Make viewer'}
      onClick={() => change({ viewer: !viewer }, `${email} ${viewer ? 'is no longer' : 'is'} a viewer.`)}
    />
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
