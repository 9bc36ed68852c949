/** `barograph tenants`: manages partners whose users sign in by tokens of theirs. */

import type { Command } from 'commander'
import { IssuedSecret, TenantDetails, TenantPage, TenantSlug } from '../auth/tenants/tenant.ts'
import type { AdminClient } from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { printFields, printJson, printTable, printText, type Streams } from './output.ts'

interface Json {
  json?: boolean
}

export function defineTenants(tenants: Command, { client, streams }: CommandContext): void {
  addAdd(tenants, client, streams)
  addList(tenants, client, streams)
  addRotate(tenants, client, streams)
  addSwitch(tenants, client, streams, { name: 'disable', isActive: false })
  addSwitch(tenants, client, streams, { name: 'enable', isActive: true })
}

function addAdd(tenants: Command, client: AdminClient, streams: Streams): void {
  tenants
    .command('add')
    .description('add a tenant and print its secret (shown only once)')
    .argument('<slug>', 'lower-case letters, digits and hyphens; it cannot be changed')
    .argument('<name>')
    .option('--json', 'print the tenant and its secret as JSON')
    .addHelpText('after', '\nExample:\n  barograph tenants add acme "Acme Weather" --json')
    .action(async (slug: string, name: string, { json }: Json) => {
      printSecret(streams, await client.json(IssuedSecret, 'POST', '/tenants', { slug, name }), json)
    })
}

function addList(tenants: Command, client: AdminClient, streams: Streams): void {
  tenants
    .command('list')
    .description('list tenants')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample:\n  barograph tenants list')
    .action(async ({ json }: Json) => {
      const found = await readAll(client)
      if (json === true) printJson(streams, found)
      else if (found.length === 0) printText(streams.stdout, 'no tenants\n')
      else printTable(streams, [['slug', 'name', 'active', 'old secret until'], ...found.map(rowOf)])
    })
}

async function readAll(client: AdminClient): Promise<TenantDetails[]> {
  const found: TenantDetails[] = []
  for (let page: number | null = 1; page !== null; ) {
    const answer: TenantPage = await client.json(TenantPage, 'GET', `/tenants?page=${page}`)
    found.push(...answer.tenants)
    page = answer.next
  }
  return found
}

function rowOf({ slug, name, is_active, old_secret_until }: TenantDetails): string[] {
  return [slug, name, is_active ? 'yes' : 'no', old_secret_until ?? '-']
}

const rotateHelp = `
The old secret stays valid for a grace period (ROTATION_GRACE_HOURS). Use --now when it has leaked.

Example:
  barograph tenants rotate acme --json`

function addRotate(tenants: Command, client: AdminClient, streams: Streams): void {
  tenants
    .command('rotate')
    .description('issue a new secret for a tenant and print it (shown only once)')
    .argument('<slug>')
    .option('--now', 'revoke the old secret at once')
    .option('--json', 'print the tenant and its secret as JSON')
    .addHelpText('after', rotateHelp)
    .action(async (slug: string, { now, json }: Json & { now?: boolean }) => {
      const path = `${pathOf(slug)}/rotate${now === true ? '?now=1' : ''}`
      printSecret(streams, await client.json(IssuedSecret, 'POST', path), json)
    })
}

const switchTexts = {
  disable: 'disable a tenant and end the sessions of its users at once',
  enable: 'enable a disabled tenant',
}

function addSwitch(
  tenants: Command,
  client: AdminClient,
  streams: Streams,
  { name, isActive }: { name: keyof typeof switchTexts; isActive: boolean },
): void {
  tenants
    .command(name)
    .description(switchTexts[name])
    .argument('<slug>')
    .option('--json', 'print the tenant as JSON')
    .addHelpText('after', `\nExample:\n  barograph tenants ${name} acme`)
    .action(async (slug: string, { json }: Json) => {
      const changed = await client.json(TenantDetails, 'PATCH', pathOf(slug), { is_active: isActive })
      if (json === true) printJson(streams, changed)
      else printFields(streams, changed)
    })
}

function pathOf(slug: string): string {
  if (!TenantSlug.safeParse(slug).success) throw new CommandError(`"${slug}" is not a valid slug`, exitUsage)
  return `/tenants/${slug}`
}

function printSecret(streams: Streams, issued: IssuedSecret, json: boolean | undefined): void {
  if (json === true) {
    printJson(streams, issued)
    return
  }
  printFields(streams, issued)
  printText(streams.stdout, 'The secret is shown only once.\n')
}
