/** Invitations of people to make an account: those that are open, new ones, and their revocation. */

import { useState } from 'preact/hooks'
import type { Invitation, InvitationPage, IssuedInvitation } from '../../../auth/accounts/invitation-details.ts'
import { AddForm, type FormField, type FormValues } from '../../parts/add-form.tsx'
import { type Actions, ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Record } from '../../parts/record.tsx'
import { RowButton } from '../../parts/row-button.tsx'
import { SecretOnce } from '../../parts/secret-once.tsx'

/** A viewer is a user with one more permission, and so one of the choices. */
export const roleChoices = [
  { value: 'user', text: 'User' },
  { value: 'viewer', text: 'Viewer' },
  { value: 'administrator', text: 'Administrator' },
] as const

export function roleFields(role: string) {
  return role === 'administrator' ? { role } : { role: 'user', viewer: role === 'viewer' }
}

const fields: FormField[] = [
  { name: 'email', label: 'E-mail address', kind: 'email', isRequired: true },
  { name: 'role', label: 'Role', kind: 'choice', choices: roleChoices },
  { name: 'mail', label: 'Send a mail with a link', kind: 'check', value: true },
]

/** Shows the link of the last invitation once. */
export function InviteForm({ actions, isStrong = false }: { actions: Actions; isStrong?: boolean }) {
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
        fields={fields}
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
      noun="open invitations"
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
