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
import { t, tn, tp } from '../../words/words.ts'

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
          {t('Add a key of your own')}
        </a>
      )}
    </ListSection>
  )
}

const stateNames: Record<AdminKeyPage['keys'][number]['state'], string> = {
  active: t('active'),
  expired: t('expired'),
  revoked: t('revoked'),
}

function KeyRow({ apiKey, actions }: { apiKey: AdminKeyPage['keys'][number]; actions: Actions }) {
  const { id, email, name, prefix, scopes, tags, state, last_used_at } = apiKey
  const limit = tags.length === 0 ? undefined : t('devices with {list}', { list: tags.join(', ') })
  const facts = [
    t('key {id}', { id }),
    email,
    prefix,
    scopes.join(', '),
    limit,
    stateNames[state],
    tp('last used {moment}', { moment: <Moment at={last_used_at} /> }),
  ]
  return (
    <Record name={name} facts={facts}>
      {state === 'active' ? (
        <ConfirmedButton
          title={t('Revoke {name}?', { name })}
          text={t('Programs that use this key are refused from now on.')}
          name={name}
          verb={t('Revoke')}
          onConfirm={() => void actions.change('DELETE', `/keys/${id}`, undefined, t('{name} is revoked.', { name }))}
        />
      ) : null}
    </Record>
  )
}

const fields: FormField[] = [
  { name: 'slug', label: t('Short name'), hint: t('Lower-case letters, digits and hyphens'), isRequired: true },
  { name: 'name', label: t('Name'), isRequired: true },
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
              title={t('Secret of {name}', { name: issued.slug })}
              text={t('Copy it now. The server of the partner signs its tokens with it. It is shown only once.')}
              parts={[{ name: t('Secret'), text: issued.secret }]}
              onDone={() => setIssued(undefined)}
            />
          )}
          <AddForm
            title={t('Add a tenant')}
            isStrong
            verb={t('Add')}
            fields={fields}
            isBusy={isBusy}
            onSend={async values => {
              const tenant = await change<IssuedSecret>(
                'POST',
                '/tenants',
                values,
                t('{name} is added.', { name: String(values['slug']) }),
              )
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
  const rotate = () =>
    actions.change<IssuedSecret>('POST', `${path}/rotate`, undefined, t('{name} has a new secret.', { name: slug }))
  const facts = [
    name,
    is_active ? undefined : t('disabled'),
    old_secret_until === null
      ? undefined
      : tp('old secret until {moment}', { moment: <Moment at={old_secret_until} /> }),
  ]
  const done = is_active ? t('{name} is disabled.', { name: slug }) : t('{name} is enabled.', { name: slug })
  return (
    <Record name={slug} facts={facts}>
      <RowButton name={slug} text={t('New secret')} onClick={() => void rotate().then(onIssued)} />
      <RowButton
        name={slug}
        text={is_active ? t('Disable') : t('Enable')}
        onClick={() => void actions.change('PATCH', path, { is_active: !is_active }, done)}
      />
    </Record>
  )
}
