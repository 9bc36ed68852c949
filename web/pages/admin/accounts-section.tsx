/** The accounts of people: add, invite, roles, viewers, enabled and disabled. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Status } from '../../../api/admin/status-answer.ts'
import type { AccountDetails, AccountPage, AddedAccount } from '../../../auth/accounts/account-details.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useResource } from '../../client/use-resource.ts'
import { AddForm, type FormField, type FormValues } from '../../parts/add-form.tsx'
import { ConfirmDialog, ConfirmedButton } from '../../parts/confirmed-button.tsx'
import { Help } from '../../parts/help.tsx'
import { type Actions, ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Record } from '../../parts/record.tsx'
import { RowButton } from '../../parts/row-button.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { InviteForm, roleChoices, roleFields } from './invitations-section.tsx'
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
        <dl class="ways">
          {roleTexts.map(([name, sentence]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{sentence}</dd>
            </div>
          ))}
        </dl>
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

/** A change between user and viewer is immediate. A change from or to administrator needs a confirmation. */
function RoleSelect({ account: { email, role, viewer }, change }: ChangeProps) {
  const [asked, setAsked] = useState<string>()
  const current = role === 'user' && viewer ? 'viewer' : role
  const set = (next: string) =>
    change(roleFields(next), `${email} is now ${next === 'administrator' ? 'an' : 'a'} ${next}.`)
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
