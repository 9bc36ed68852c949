/** `barograph tenants`: manages partners whose users sign in by tokens of theirs. */

import { IssuedSecret, TenantDetails, TenantPage, TenantSlug } from '../auth/tenants/tenant.ts'
import { commands, list, operation } from './operation-commands.ts'
import { stepOf } from './option-values.ts'

const slug = ['<slug>', '', stepOf('slug', text => TenantSlug.safeParse(text).success)] as const
const issued = {
  answer: IssuedSecret,
  json: 'print the tenant and its secret as JSON',
  text: (tenant: IssuedSecret) => [tenant, 'The secret is shown only once.'],
}
const change = {
  arguments: [slug],
  send: 'PATCH /admin/tenants/:slug',
  answer: TenantDetails,
  json: 'print the tenant as JSON',
} as const

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
    ...change,
  }),
  operation('enable', 'enable a disabled tenant', {
    examples: ['tenants enable acme'],
    body: () => ({ is_active: true }),
    ...change,
  }),
)
