/** Serves partners to administrators: lists, reads, adds, changes and rotates secrets. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import {
  IssuedSecret,
  NewTenant,
  TenantChange,
  TenantDetails,
  TenantPage,
  TenantSlug,
} from '../../auth/tenants/tenant.ts'
import type { TenantRefusal, Tenants } from '../../auth/tenants/tenants.ts'
import type { AdminOperation } from './operation.ts'
import { sendProblem } from './problem.ts'
import { recordOperations } from './record-operations.ts'
import { PageQuery, RotateQuery } from './request-fields.ts'

const Tenant = TenantDetails.meta({ id: 'AdminTenant' })
const Secret = IssuedSecret.meta({ id: 'IssuedSecret' })
/** An impossible slug becomes empty. */
const slug = z.string().transform(text => TenantSlug.safeParse(text).data ?? '')

export function tenantOperations(tenants: Tenants): AdminOperation[] {
  const { list, one, addition, change, action } = recordOperations({
    prefix: '/api/admin',
    list: '/tenants',
    key: 'slug',
    id: slug,
    unknown: 'TENANT_UNKNOWN',
    refuse: sendRefusal,
  })
  return [
    list({
      name: 'admin_list_tenants',
      summary: 'The partners',
      query: PageQuery,
      answer: 'A page of them',
      json: TenantPage.meta({ id: 'AdminTenantPage' }),
      read: ({ query }) => tenants.list(query.page),
    }),
    addition({
      name: 'admin_add_tenant',
      summary: 'Add a partner',
      body: NewTenant.meta({ id: 'AdminNewTenant' }),
      answer: 'The partner with its secret, shown only once',
      json: Secret,
      refusals: ['SLUG_TAKEN', 'TOO_MANY_TENANTS'],
      run: ({ body, actor }) => tenants.add(body, actor),
    }),
    one({
      name: 'admin_get_tenant',
      summary: 'One partner',
      answer: 'The partner',
      json: Tenant,
      read: ({ path: { slug } }) => tenants.get(slug),
    }),
    change({
      name: 'admin_change_tenant',
      summary: 'Change a partner',
      body: TenantChange.meta({ id: 'AdminTenantChange' }),
      answer: 'The changed partner',
      json: Tenant,
      run: ({ path: { slug }, body, actor }) => tenants.change(slug, body, actor),
    }),
    action({
      below: '/rotate',
      name: 'admin_rotate_secret',
      summary: 'A new secret',
      query: RotateQuery,
      answer: 'The partner with its secret, shown only once',
      json: Secret,
      run: ({ path: { slug }, query, actor }) => tenants.rotate(slug, query.now, actor),
    }),
  ]
}

function sendRefusal(reply: FastifyReply, { code }: TenantRefusal): FastifyReply {
  const errors = code === 'SLUG_TAKEN' ? [{ path: 'slug', message: 'is taken by another tenant' }] : undefined
  return sendProblem(reply, code, { errors })
}
