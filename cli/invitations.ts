/** Invitations of people to make an account: `barograph accounts invite` and the commands that list and revoke them. */

import { z } from 'zod'
import { emailKeyOf } from '../auth/accounts/email-address.ts'
import { InvitationPage, IssuedInvitation, invitedRoles } from '../auth/accounts/invitation-details.ts'
import type { AdminClient } from './admin-client.ts'
import { CommandError } from './command-error.ts'
import { command, commands, list, operation, readAll } from './operation-commands.ts'

export const invitationCommands = commands(
  operation('invite', 'invite a person to make an account', {
    arguments: [['<email>']],
    options: [
      ['--role <role>', 'role of the account', invitedRoles],
      ['--viewer', 'let it read all devices where reads are private'],
      ['--no-mail', 'only print the link'],
    ],
    json: 'print the invitation as JSON',
    help: `It sends a mail with a link and prints another one, for which that person makes the account; give it to that person only. Both
are valid for 7 days, for this address, and one of them works, once. A newer invitation of the same address replaces it.`,
    examples: ['accounts invite ada@example.com', 'accounts invite grace@example.com --viewer --no-mail'],
    send: 'POST /admin/invitations',
    answer: IssuedInvitation,
    text: ({ link, ...invitation }) => [invitation, `\nLink that makes the account, valid for 7 days, once:\n${link}`],
  }),
  list('invitations', 'list open invitations, the newest first', {
    examples: ['accounts invitations'],
    send: 'GET /admin/invitations',
    answer: InvitationPage,
    none: 'no invitations',
    columns: ['id', ['e-mail', 'email'], 'role', 'viewer', 'invited_by', ['expires', 'expires_at']],
  }),
  command('revoke-invitation', 'revoke an open invitation', {
    arguments: [['<invitation>', 'its e-mail address or id']],
    json: 'print the result as JSON',
    examples: ['accounts revoke-invitation ada@example.com'],
    async run({ invitation }: { invitation: string }, { apiClient }) {
      const revoked = await idOf(apiClient, invitation)
      await apiClient.json(z.undefined(), 'DELETE', `/admin/invitations/${revoked}`)
      return { json: { revoked }, text: [`revoked the invitation ${invitation}`] }
    },
  }),
)

async function idOf(client: AdminClient, invitation: string): Promise<number> {
  if (/^\d+$/.test(invitation)) return Number(invitation)
  const key = emailKeyOf(invitation)
  const open = await readAll(client, InvitationPage, '/admin/invitations')
  const found = open.find(({ email }) => emailKeyOf(email) === key)
  if (found === undefined) throw new CommandError(`no open invitation has the address ${invitation}`)
  return found.id
}
