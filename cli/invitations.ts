/** `barograph accounts invite` and what goes with it: invitations of people to make an account. */

import { type Command, Option } from 'commander'
import { z } from 'zod'
import { emailKeyOf } from '../auth/accounts/email-address.ts'
import { type Invitation, InvitationPage, IssuedInvitation, invitedRoles } from '../auth/accounts/invitation-details.ts'
import type { AdminClient } from './admin-client.ts'
import { CommandError } from './command-error.ts'
import { printFields, printJson, printTable, printText, type Streams } from './output.ts'

interface Json {
  json?: boolean
}

interface InviteOptions extends Json {
  role?: string
  viewer?: boolean
  /** False with --no-mail. */
  mail: boolean
}

const inviteHelp = `
It sends a mail with a link and prints another one, for which that person makes the account; give it to that person only. Both
are valid for 7 days, for this address, and one of them works, once. A newer invitation of the same address replaces it.

Examples:
  barograph accounts invite ada@example.com
  barograph accounts invite grace@example.com --viewer --no-mail`

export function addInvitationCommands(accounts: Command, client: AdminClient, streams: Streams): void {
  accounts
    .command('invite')
    .description('invite a person to make an account')
    .argument('<email>')
    .addOption(new Option('--role <role>', 'role of the account').choices(invitedRoles))
    .option('--viewer', 'let it read all devices where reads are private')
    .option('--no-mail', 'only print the link')
    .option('--json', 'print the invitation as JSON')
    .addHelpText('after', inviteHelp)
    .action(async (email: string, { role, viewer, mail, json }: InviteOptions) => {
      const issued = await client.json(IssuedInvitation, 'POST', '/invitations', { email, role, viewer, mail })
      if (json === true) {
        printJson(streams, issued)
        return
      }
      const { link, ...invitation } = issued
      printFields(streams, invitation)
      printText(streams.stdout, `\nLink that makes the account, valid for 7 days, once:\n${link}\n`)
    })
  accounts
    .command('invitations')
    .description('list open invitations, the newest first')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample:\n  barograph accounts invitations')
    .action(async ({ json }: Json) => {
      const found = await readAll(client)
      if (json === true) printJson(streams, found)
      else if (found.length === 0) printText(streams.stdout, 'no invitations\n')
      else printTable(streams, [columns, ...found.map(rowOf)])
    })
  accounts
    .command('revoke-invitation')
    .description('revoke an open invitation')
    .argument('<invitation>', 'its e-mail address or id')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  barograph accounts revoke-invitation ada@example.com')
    .action(async (invitation: string, { json }: Json) => {
      const id = await idOf(client, invitation)
      await client.json(z.undefined(), 'DELETE', `/invitations/${id}`)
      if (json === true) printJson(streams, { revoked: id })
      else printText(streams.stdout, `revoked the invitation ${invitation}\n`)
    })
}

const columns = ['id', 'e-mail', 'role', 'viewer', 'invited by', 'expires']

function rowOf({ id, email, role, viewer, invited_by, expires_at }: Invitation): string[] {
  return [String(id), email, role, viewer ? 'yes' : 'no', invited_by, expires_at]
}

async function readAll(client: AdminClient): Promise<Invitation[]> {
  const found: Invitation[] = []
  for (let page: number | null = 1; page !== null; ) {
    const answer: InvitationPage = await client.json(InvitationPage, 'GET', `/invitations?page=${page}`)
    found.push(...answer.invitations)
    page = answer.next
  }
  return found
}

async function idOf(client: AdminClient, invitation: string): Promise<number> {
  if (/^\d+$/.test(invitation)) return Number(invitation)
  const key = emailKeyOf(invitation)
  const found = (await readAll(client)).find(({ email }) => emailKeyOf(email) === key)
  if (found === undefined) throw new CommandError(`no open invitation has the address ${invitation}`)
  return found.id
}
