/** `barograph accounts`, `keys`, `tenants` and `audit`: people, their API keys, partners, and the audit log. */

import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { AddedKey, AdminKeyPage } from '../api/admin/answers.ts'
import { AccountDetails, AccountPage, AddedAccount, roles } from '../auth/accounts/account-details.ts'
import { emailKeyOf } from '../auth/accounts/email-address.ts'
import { InvitationPage, IssuedInvitation, invitedRoles } from '../auth/accounts/invitation-details.ts'
import { AuditPage } from '../auth/audit-page.ts'
import { scopes } from '../auth/keys/key.ts'
import { IssuedSecret, TenantDetails, TenantPage, TenantSlug } from '../auth/tenants/tenant.ts'
import type { AdminClient } from './admin-client.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { command, commands, list, operation, readAll, removal, tableOf } from './operation-commands.ts'
import { collected, countUpTo, ownerOf, stepOf } from './option-values.ts'

const account = ['<account>', 'e-mail address or id'] as const
const change = {
  arguments: [account],
  json: 'print the account as JSON',
  send: 'PATCH /admin/accounts/:account',
  find: { account: idOf },
  answer: AccountDetails,
} as const

const invitationCommands = commands(
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
      const revoked = await invitationIdOf(apiClient, invitation)
      await apiClient.json(z.undefined(), 'DELETE', `/admin/invitations/${revoked}`)
      return { json: { revoked }, text: [`revoked the invitation ${invitation}`] }
    },
  }),
)

export const defineAccounts = commands(
  operation('add', 'add an account and print a link that sets its password', {
    arguments: [['<email>']],
    options: [
      ['--name <name>', 'name of the person'],
      ['--role <role>', 'role', roles],
      ['--viewer', 'let it read all devices where reads are private'],
      ['--verified', 'answer for the address, as API keys that send readings need it'],
      ['--password-stdin', 'read the password from standard input'],
    ],
    json: 'print the account as JSON',
    help: `Without --password-stdin it prints a link that sets the password. The link is valid for one hour and works once; give it
to that person only.`,
    examples: [
      'accounts add ada@example.com --name Ada',
      'accounts add ada@example.com --role administrator --password-stdin < password.txt',
    ],
    send: 'POST /admin/accounts',
    fields: { verified: 'email_verified' },
    async body({ password_stdin, ...fields }: { password_stdin?: true }, { streams }) {
      return password_stdin === undefined ? fields : { ...fields, password: await readPassword(streams) }
    },
    answer: AddedAccount,
    text: ({ password_link, ...details }) => [
      details,
      ...(password_link === null ? [] : [`\nLink that sets the password, valid for one hour, once:\n${password_link}`]),
    ],
  }),
  invitationCommands,
  list('list', 'list accounts', {
    options: [['--search <text>', 'only accounts whose e-mail address or name contains this text (case-insensitive)']],
    examples: ['accounts list', 'accounts list --search ada --json'],
    send: 'GET /admin/accounts',
    answer: AccountPage,
    none: 'no accounts',
    columns: [
      ...(['id', ['e-mail', 'email'], 'name', 'role', 'viewer', ['active', 'is_active']] as const),
      ['verified', ({ email_verified }) => (email_verified === null ? 'no' : 'yes')],
      ['tenant', 'tenant_slug'],
    ],
  }),
  operation('role', 'change the role of an account', {
    ...change,
    arguments: [account, ['<role>', '', roles]],
    help: 'There is exactly one operator: giving the role to another account makes the previous operator an administrator.',
    examples: ['accounts role ada@example.com administrator', 'accounts role 7 operator'],
  }),
  operation('viewer', 'let an account read all devices where reads are private, or no longer', {
    ...change,
    arguments: [account, ['<state>', '', ['on', 'off']]],
    help: `With READS=private, a viewer reads all devices, as administrators do. Anybody else reads the devices that they own:
see devices set --owner.`,
    examples: ['accounts viewer ada@example.com on', 'accounts viewer 7 off'],
    body: ({ state }: { state: string }) => ({ viewer: state === 'on' }),
  }),
  operation('verify', 'answer for the e-mail address of an account: API keys that send readings need a verified one', {
    ...change,
    examples: ['accounts verify ada@example.com'],
    body: () => ({ email_verified: true }),
  }),
  operation('disable', 'disable an account and end its sessions and API keys at once', {
    ...change,
    examples: ['accounts disable ada@example.com'],
    body: () => ({ is_active: false }),
  }),
  operation('enable', 'enable a disabled account', {
    ...change,
    examples: ['accounts enable ada@example.com'],
    body: () => ({ is_active: true }),
  }),
)

/** Never an argument of the command: those are seen by every user of the machine. */
export async function readPassword({ stdin }: { stdin: Readable & { isTTY?: boolean } }): Promise<string> {
  if (stdin.isTTY === true)
    throw new CommandError('--password-stdin needs the password from a file or a pipe', exitUsage)
  const password = (await text(stdin)).replace(/\r?\n$/, '')
  if (password === '') throw new CommandError('standard input contains no password', exitUsage)
  return password
}

/** Digits alone are an id. An address names an ordinary account, because addresses of tenants need not be unique. */
async function idOf(client: AdminClient, account: string): Promise<string | number> {
  if (/^\d+$/.test(account)) return account
  const key = emailKeyOf(account)
  const found = (await readAll(client, AccountPage, '/admin/accounts', { search: key })).find(
    ({ email, tenant_slug }) => tenant_slug === null && emailKeyOf(email) === key,
  )
  if (found === undefined) throw new CommandError(`no account has the address ${account}`)
  return found.id
}

async function invitationIdOf(client: AdminClient, invitation: string): Promise<number> {
  if (/^\d+$/.test(invitation)) return Number(invitation)
  const key = emailKeyOf(invitation)
  const open = await readAll(client, InvitationPage, '/admin/invitations')
  const found = open.find(({ email }) => emailKeyOf(email) === key)
  if (found === undefined) throw new CommandError(`no open invitation has the address ${invitation}`)
  return found.id
}

/** `barograph keys`: makes, lists and revokes the API keys of people. */
export const defineKeys = commands(
  operation('add', 'make an API key and print it (shown only once)', {
    options: [
      new Option('--account <account>', 'e-mail address or id of its owner').argParser(ownerOf).makeOptionMandatory(),
      new Option('--name <name>', 'its purpose').makeOptionMandatory(),
      new Option('--scope <scope...>', 'its permissions').choices(scopes).default(['read']),
      ['--create-devices', 'let it add devices with its readings'],
      ['--tag <tag>', 'limit it to devices with this tag, once for each that must hold', collected],
      ['--expires-in-days <days>', 'days until it expires, at most 365; never without it', days],
    ],
    help: 'A mail notifies the owner. A key that sends readings (ingest, --create-devices) needs a verified address: see accounts verify.',
    examples: [
      "keys add --account ada@example.com --name 'weather script' --scope ingest",
      'keys add --account ada@example.com --name berlin --tag site:berlin --scope read ingest',
      'keys add --account 7 --name grafana --scope read --expires-in-days 90 --json',
    ],
    send: 'POST /admin/keys',
    fields: { scope: 'scopes', tag: 'tags' },
    answer: AddedKey,
    text: ({ key, ...details }) => [
      { ...details, scopes: details.scopes.join(' '), tags: details.tags.join(', ') },
      `\nKey, shown only once:\n${key}`,
    ],
  }),
  list('list', 'list API keys, the newest first', {
    options: [['--account <account>', "keys of this account only: its id, or its owner's e-mail address"]],
    help: 'Keys that are revoked or expired stay in the list for 30 days.',
    examples: [
      'keys list',
      'keys list --account ada@example.com',
      "keys list --json | jq '.[] | select(.last_used_at == null)'",
    ],
    send: 'GET /admin/keys',
    answer: AdminKeyPage,
    none: 'no keys',
    columns: [
      ...(['id', ['account', 'email'], 'prefix', 'scopes'] as const),
      ['tags', ({ tags }) => tags.join(', ') || '-'],
      'state',
      ['last used', ({ last_used_at }) => last_used_at ?? 'never'],
      'name',
    ],
  }),
  removal('revoke', 'revoke an API key at once', {
    arguments: [['<id>', 'id of the key', keyId]],
    examples: ['keys revoke 4711'],
    send: 'DELETE /admin/keys/:id',
    field: 'revoked',
    text: ({ id }) => `revoked key ${id}`,
  }),
)

function days(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError('Days must be a whole number.')
  return Number(text)
}

function keyId(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('An id must be a whole number; see keys list.')
  return Number(text)
}

const slug = ['<slug>', '', stepOf('slug', text => TenantSlug.safeParse(text).success)] as const
const issued = {
  answer: IssuedSecret,
  json: 'print the tenant and its secret as JSON',
  text: (tenant: IssuedSecret) => [tenant, 'The secret is shown only once.'],
}
const tenantChange = {
  arguments: [slug],
  send: 'PATCH /admin/tenants/:slug',
  answer: TenantDetails,
  json: 'print the tenant as JSON',
} as const

/** `barograph tenants`: manages partners whose users sign in by tokens of theirs. */
export const defineTenants = commands(
  operation('add', 'add a tenant and print its secret (shown only once)', {
    arguments: [['<slug>', 'lower-case letters, digits and hyphens; it cannot be changed'], ['<name>']],
    examples: ['tenants add acme "Acme Weather" --json'],
    send: 'POST /admin/tenants',
    ...issued,
  }),
  list('list', 'list tenants', {
    examples: ['tenants list'],
    send: 'GET /admin/tenants',
    answer: TenantPage,
    none: 'no tenants',
    columns: ['slug', 'name', ['active', 'is_active'], 'old_secret_until'],
  }),
  operation('rotate', 'issue a new secret for a tenant and print it (shown only once)', {
    arguments: [slug],
    options: [['--now', 'revoke the old secret at once']],
    help: 'The old secret stays valid for a grace period (ROTATION_GRACE_HOURS). Use --now when it has leaked.',
    examples: ['tenants rotate acme --json'],
    send: 'POST /admin/tenants/:slug/rotate',
    query: ['now'],
    ...issued,
  }),
  operation('disable', 'disable a tenant and end the sessions of its users at once', {
    examples: ['tenants disable acme'],
    body: () => ({ is_active: false }),
    ...tenantChange,
  }),
  operation('enable', 'enable a disabled tenant', {
    examples: ['tenants enable acme'],
    body: () => ({ is_active: true }),
    ...tenantChange,
  }),
)

const entriesMax = 100_000

/** `barograph audit`: the audit log, newest first. */
export const defineAudit = command('', '', {
  options: [new Option('--limit <number>', 'how many entries').argParser(countUpTo(entriesMax)).default(100)],
  examples: ['audit', 'audit --limit 1000 --json'],
  async run({ limit }: { limit: number }, { client }) {
    // Entries are identified by id, because new ones move others to the next page.
    const found = new Map<number, AuditPage['entries'][number]>()
    for (let page: number | null = 1; page !== null && found.size < limit; ) {
      const answer: AuditPage = await client.json(AuditPage, 'GET', `/audit?page=${page}`)
      for (const entry of answer.entries) found.set(entry.id, entry)
      page = answer.next
    }
    const entries = [...found.values()].slice(0, limit)
    return {
      json: entries,
      text: tableOf(entries, [['time', 'at'], ['by', 'actor'], 'action', 'subject', 'details'], 'no entries'),
    }
  },
})
