/** `barograph keys`: makes, lists and revokes the API keys of people. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { AddedKey, AdminKeyPage } from '../api/admin/key-answers.ts'
import { type Scope, scopes } from '../auth/keys/key.ts'
import type { AdminClient } from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import { ownerOf } from './device-options.ts'
import { collected } from './option-values.ts'
import { printFields, printJson, printTable, printText } from './output.ts'

type AdminKey = AdminKeyPage['keys'][number]

const listHelp = `
Keys that are revoked or expired stay in the list for 30 days.

Examples:
  barograph keys list
  barograph keys list --account ada@example.com
  barograph keys list --json | jq '.[] | select(.last_used_at == null)'`

const addHelp = `
A mail notifies the owner. A key that sends readings (ingest, --create-devices) needs a verified address: see accounts verify.

Examples:
  barograph keys add --account ada@example.com --name 'weather script' --scope ingest
  barograph keys add --account ada@example.com --name berlin --tag site:berlin --scope read ingest
  barograph keys add --account 7 --name grafana --scope read --expires-in-days 90 --json`

interface AddOptions {
  account: string
  name: string
  scope: Scope[]
  createDevices?: boolean
  tag?: string[]
  expiresInDays?: number
  json?: boolean
}

export function defineKeys(command: Command, { client, streams }: CommandContext): void {
  command
    .command('add')
    .description('make an API key and print it (shown only once)')
    .requiredOption('--account <account>', 'e-mail address or id of its owner')
    .requiredOption('--name <name>', 'its purpose')
    .addOption(new Option('--scope <scope...>', 'its permissions').choices(scopes).default(['read']))
    .option('--create-devices', 'let it add devices with its readings')
    .option('--tag <tag>', 'limit it to devices with this tag, once for each that must hold', collected)
    .option('--expires-in-days <days>', 'days until it expires, at most 365; never without it', days)
    .option('--json', 'print as JSON')
    .addHelpText('after', addHelp)
    .action(async ({ account, name, scope, createDevices, tag, expiresInDays, json }: AddOptions) => {
      const added = await client.json(AddedKey, 'POST', '/keys', {
        account: ownerOf(account),
        name,
        scopes: scope,
        create_devices: createDevices,
        tags: tag,
        expires_in_days: expiresInDays,
      })
      if (json === true) {
        printJson(streams, added)
        return
      }
      const { key, ...details } = added
      printFields(streams, { ...details, scopes: details.scopes.join(' '), tags: details.tags.join(', ') })
      printText(streams.stdout, `\nKey, shown only once:\n${key}\n`)
    })
  command
    .command('list')
    .description('list API keys, the newest first')
    .option('--account <account>', "keys of this account only: its id, or its owner's e-mail address")
    .option('--json', 'print as JSON')
    .addHelpText('after', listHelp)
    .action(async ({ account, json }: { account?: string; json?: boolean }) => {
      const keys = await readAll(client, account)
      if (json === true) printJson(streams, keys)
      else if (keys.length === 0) printText(streams.stdout, 'no keys\n')
      else
        printTable(streams, [
          ['id', 'account', 'prefix', 'scopes', 'tags', 'state', 'last used', 'name'],
          ...keys.map(rowOf),
        ])
    })
  command
    .command('revoke')
    .description('revoke an API key at once')
    .argument('<id>', 'id of the key', keyId)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  barograph keys revoke 4711')
    .action(async (id: number, { json }: { json?: boolean }) => {
      await client.json(z.undefined(), 'DELETE', `/keys/${id}`)
      if (json === true) printJson(streams, { revoked: id })
      else printText(streams.stdout, `revoked key ${id}\n`)
    })
}

async function readAll(client: AdminClient, account: string | undefined): Promise<AdminKey[]> {
  const keys: AdminKey[] = []
  for (let page: number | null = 1; page !== null; ) {
    const query = new URLSearchParams({ page: String(page), ...(account === undefined ? {} : { account }) })
    const answer: AdminKeyPage = await client.json(AdminKeyPage, 'GET', `/keys?${query}`)
    keys.push(...answer.keys)
    page = answer.next
  }
  return keys
}

function rowOf({ id, email, prefix, scopes, tags, state, last_used_at, name }: AdminKey): string[] {
  return [
    String(id),
    email,
    prefix,
    scopes.join(' ') || '-',
    tags.join(', ') || '-',
    state,
    last_used_at ?? 'never',
    name,
  ]
}

function days(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new InvalidArgumentError('Days must be a whole number.')
  return Number(text)
}

function keyId(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('An id must be a whole number; see keys list.')
  return Number(text)
}
