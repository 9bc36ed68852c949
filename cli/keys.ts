/** `barograph keys`: lists and revokes the API keys of people. Only their owners make them, in a browser. */

import { type Command, InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { AdminKeyPage } from '../api/admin/keys.ts'
import type { AdminClient } from './admin-client.ts'
import { printJson, printTable, printText, type Streams } from './output.ts'

type AdminKey = AdminKeyPage['keys'][number]

const listHelp = `
Keys that are revoked or expired stay in the list for 30 days.

Examples:
  barograph keys list
  barograph keys list --account ada@example.com
  barograph keys list --json | jq '.[] | select(.last_used_at == null)'`

export function addKeysCommand(program: Command, client: AdminClient, streams: Streams): void {
  const command = program.command('keys').description('list and revoke the API keys of people')
  command
    .command('list')
    .description('list API keys, the newest first')
    .option('--account <account>', "only those of this account: its id, or its owner's e-mail address")
    .option('--json', 'print as JSON')
    .addHelpText('after', listHelp)
    .action(async ({ account, json }: { account?: string; json?: boolean }) => {
      const keys = await readAll(client, account)
      if (json === true) printJson(streams, keys)
      else if (keys.length === 0) printText(streams.stdout, 'no keys\n')
      else
        printTable(streams, [['id', 'account', 'prefix', 'scopes', 'state', 'last used', 'name'], ...keys.map(rowOf)])
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

function rowOf({ id, email, prefix, scopes, state, last_used_at, name }: AdminKey): string[] {
  return [String(id), email, prefix, scopes.join(' ') || '-', state, last_used_at ?? 'never', name]
}

function keyId(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('An id must be a whole number; see keys list.')
  return Number(text)
}
