/** The accounts of people: add, roles, on and off. */

import { useState } from 'preact/hooks'
import { AddForm, type FormField, type FormValues } from './add-form.tsx'
import { type Actions, ListSection } from './list-section.tsx'
import { Record } from './record.tsx'
import { RowButton } from './row-button.tsx'
import { SecretOnce } from './secret-once.tsx'
import type { AdminAccount } from './shapes.ts'
import { timeText } from './utc.ts'

interface Added extends AdminAccount {
  password_link: string | null
}

const fields: FormField[] = [
  { name: 'email', label: 'E-mail address', kind: 'email', isRequired: true },
  { name: 'name', label: 'Name' },
]

export function AccountsSection() {
  const [added, setAdded] = useState<Added>()
  const add = async (actions: Actions, values: FormValues) => {
    const account = await actions.change<Added>('POST', '/accounts', values, `${values['email']} is added.`)
    setAdded(account)
    return account !== undefined
  }
  return (
    <ListSection<{ accounts: AdminAccount[]; next: number | null; total: number }, AdminAccount>
      path="/accounts"
      noun="accounts"
      hasSearch={true}
      itemsOf={page => page.accounts}
      keyOf={account => account.id}
      row={(account, actions) => <AccountRow account={account} actions={actions} />}
    >
      {actions => (
        <>
          {added === undefined || added.password_link === null ? null : (
            <SecretOnce
              title={`A link for ${added.email}`}
              text="It sets the password of the account, once and within an hour. It is shown this once."
              parts={[{ name: 'Link', text: added.password_link }]}
              onDone={() => setAdded(undefined)}
            />
          )}
          <AddForm
            title="Add an account"
            verb="Add"
            fields={fields}
            isBusy={actions.isBusy}
            onSend={values => add(actions, values)}
          />
        </>
      )}
    </ListSection>
  )
}

function AccountRow({ account, actions }: { account: AdminAccount; actions: Actions }) {
  const { id, email, name, role, is_active, tenant_slug, created_at } = account
  const change = (body: object, done: string) => void actions.change('PATCH', `/accounts/${id}`, body, done)
  const isAdministrator = role === 'administrator'
  const facts = [
    name ?? undefined,
    role,
    is_active ? undefined : 'off',
    tenant_slug === null ? undefined : `of ${tenant_slug}`,
    `id ${id}`,
    `since ${timeText(created_at)}`,
  ]
  if (role === 'operator') return <Record name={email} facts={facts} />
  return (
    <Record name={email} facts={facts}>
      {tenant_slug === null ? (
        <RowButton
          name={email}
          text={isAdministrator ? 'Make a user' : 'Make an administrator'}
          onClick={() =>
            change({ role: isAdministrator ? 'user' : 'administrator' }, `The role of ${email} is changed.`)
          }
        />
      ) : null}
      <RowButton
        name={email}
        text={is_active ? 'Switch off' : 'Switch on'}
        onClick={() => change({ is_active: !is_active }, `${email} is ${is_active ? 'off' : 'on'}.`)}
      />
    </Record>
  )
}
