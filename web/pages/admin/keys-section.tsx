/** The API keys of all people, and their revocation. */

import type { AdminKeyPage } from '../../../api/admin/key-answers.ts'
import { addressOf } from '../../client/address.ts'
import { ConfirmedButton } from '../../parts/confirmed-button.tsx'
import { type Actions, ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Record } from '../../parts/record.tsx'

export function KeysSection() {
  return (
    <ListSection
      path="/keys"
      noun="API keys"
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
