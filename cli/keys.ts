/** `barograph keys`: makes, lists and revokes the API keys of people. */

import { InvalidArgumentError, Option } from 'commander'
import { AddedKey, AdminKeyPage } from '../api/admin/key-answers.ts'
import { scopes } from '../auth/keys/key.ts'
import { commands, list, operation, removal } from './operation-commands.ts'
import { collected, ownerOf } from './option-values.ts'

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
