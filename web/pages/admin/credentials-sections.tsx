/** The API keys of people, and the partners whose users sign in by tokens. */

import { useState } from 'preact/hooks'
import type { AdminKeyPage } from '../../../api/admin/answers.ts'
import type { IssuedSecret, TenantDetails, TenantPage } from '../../../auth/tenants/tenant.ts'
import { addressOf } from '../../client/address.ts'
import { AddForm, type FormField } from '../../parts/add-form.tsx'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Record, RowButton } from '../../parts/record.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'
import type { Actions } from '../../parts/use-actions.tsx'
import { t, tn } from '../../words/words.ts'

export function KeysSection() {
  return (
    <ListSection
      path="/keys"
      noun={t('API keys')}
      counted={count => tn(count, '{count} API key.', '{count} API keys.')}
      itemsOf={(page: AdminKeyPage) => page.keys}
      keyOf={key => key.id}
      row={(key, actions) => <KeyRow apiKey={key} actions={actions} />}
    >
      {() => (
        <a class="button" href={addressOf('/account')}>
          Add a key of your own
        </a>
      )}
    </ListSection>
  )
}

function KeyRow({ apiKey, actions }: { apiKey: AdminKeyPage['keys'][number]; actions: Actions }) {
  const { id, email, name, prefix, scopes, tags, state, last_used_at } = apiKey
  const limit = tags.length === 0 ? undefined : `devices with ${tags.join(', ')}`
  const facts = [
    `key ${id}`,
    email,
    prefix,
    scopes.join(', '),
    limit,
    state,
    <>
      last used <Moment at={last_used_at} />
    </>,
  ]
  return (
    <Record name={name} facts={facts}>
      {state === 'active' ? (
        <ConfirmedButton
          title={`Revoke ${name}?`}
          text="Programs that use this key are refused from now on."
          name={name}
          verb="Revoke"
          onConfirm={() => void actions.change('DELETE', `/keys/${id}`, undefined, `${name} is revoked.`)}
        />
      ) : null}
    </Record>
  )
}

const fields: FormField[] = [
  { name: 'slug', label: 'Short name', hint: 'Lower-case letters, digits and hyphens', isRequired: true },
  { name: 'name', label: 'Name', isRequired: true },
]

export function TenantsSection() {
  const [issued, setIssued] = useState<IssuedSecret>()
  return (
    <ListSection
      path="/tenants"
      noun={t('tenants')}
      counted={count => tn(count, '{count} tenant.', '{count} tenants.')}
      itemsOf={(page: TenantPage) => page.tenants}
      keyOf={tenant => tenant.slug}
      row={(tenant, actions) => <TenantRow tenant={tenant} actions={actions} onIssued={setIssued} />}
    >
      {({ isBusy, change }) => (
        <>
          {issued === undefined ? null : (
            <SecretOnce
              title={`Secret of ${issued.slug}`}
              text="Copy it now. The server of the partner signs its tokens with it. It is shown only once."
              parts={[{ name: 'Secret', text: issued.secret }]}
              onDone={() => setIssued(undefined)}
            />
          )}
          <AddForm
            title="Add a tenant"
            isStrong
            verb="Add"
            fields={fields}
            isBusy={isBusy}
            onSend={async values => {
              const tenant = await change<IssuedSecret>('POST', '/tenants', values, `${values['slug']} is added.`)
              setIssued(tenant)
              return tenant !== undefined
            }}
          />
        </>
      )}
    </ListSection>
  )
}

interface TenantRowProps {
  tenant: TenantDetails
  actions: Actions
  onIssued: (tenant: IssuedSecret | undefined) => void
}

function TenantRow({ tenant, actions, onIssued }: TenantRowProps) {
  const { slug, name, is_active, old_secret_until } = tenant
  const path = `/tenants/${slug}`
  const rotate = () => actions.change<IssuedSecret>('POST', `${path}/rotate`, undefined, `${slug} has a new secret.`)
  const facts = [
    name,
    is_active ? undefined : 'disabled',
    old_secret_until === null ? undefined : (
      <>
        old secret until <Moment at={old_secret_until} />
      </>
    ),
  ]
  const done = is_active ? `${slug} is disabled.` : `${slug} is enabled.`
  return (
    <Record name={slug} facts={facts}>
      <RowButton name={slug} text="New secret" onClick={() => void rotate().then(onIssued)} />
      <RowButton
        name={slug}
        text={is_active ? 'Disable' : 'Enable'}
        onClick={() => void actions.change('PATCH', path, { is_active: !is_active }, done)}
      />
    </Record>
  )
}
