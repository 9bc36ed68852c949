/** Partners by HTTP, for administrators: a page of them, one, a new one, changes, and new secrets. */

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
import { type AdminOperation, operation } from './operation.ts'
import { sendProblem } from './problem.ts'
import { PageQuery, RotateQuery } from './query-fields.ts'

const Tenant = TenantDetails.meta({ id: 'AdminTenant' })
const Secret = IssuedSecret.meta({ id: 'IssuedSecret' })
/** Empty for what can be the slug of no tenant. */
const slug = z.string().transform(text => TenantSlug.safeParse(text).data ?? '')
const path = z.object({ slug })

export function tenantOperations(tenants: Tenants): AdminOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/tenants',
      name: 'admin_list_tenants',
      summary: 'The partners',
      parameters: { query: PageQuery },
      success: { status: 200, description: 'A page of them', json: TenantPage.meta({ id: 'AdminTenantPage' }) },
      handle: async ({ query }, reply) => reply.send(await tenants.list(query.page)),
    }),
    operation({
      method: 'POST',
      path: '/tenants',
      name: 'admin_add_tenant',
      summary: 'Add a partner',
      body: { json: NewTenant.meta({ id: 'AdminNewTenant' }) },
      success: { status: 201, description: 'The partner with its secret, this once', json: Secret },
      refusals: ['SLUG_TAKEN', 'TOO_MANY_TENANTS', 'OUTCOME_UNKNOWN'],
      async handle({ body, actor }, reply) {
        const added = await tenants.add(body, actor)
        if (!added.ok) return sendRefusal(reply, added.code)
        return reply.code(201).header('location', `/api/admin/tenants/${added.value.slug}`).send(added.value)
      },
    }),
    operation({
      method: 'GET',
      path: '/tenants/:slug',
      name: 'admin_get_tenant',
      summary: 'One partner',
      parameters: { path },
      success: { status: 200, description: 'The partner', json: Tenant },
      refusals: ['TENANT_UNKNOWN'],
      async handle({ path: { slug } }, reply) {
        const details = await tenants.get(slug)
        return details === undefined ? sendProblem(reply, 'TENANT_UNKNOWN') : reply.send(details)
      },
    }),
    operation({
      method: 'PATCH',
      path: '/tenants/:slug',
      name: 'admin_change_tenant',
      summary: 'Change a partner',
      parameters: { path },
      body: { json: TenantChange.meta({ id: 'AdminTenantChange' }) },
      success: { status: 200, description: 'The changed partner', json: Tenant },
      refusals: ['TENANT_UNKNOWN', 'OUTCOME_UNKNOWN'],
      async handle({ path: { slug }, body, actor }, reply) {
        const changed = await tenants.change(slug, body, actor)
        return changed.ok ? reply.send(changed.value) : sendRefusal(reply, changed.code)
      },
    }),
    rotation(tenants),
  ]
}

function rotation(tenants: Tenants): AdminOperation {
  return operation({
    method: 'POST',
    path: '/tenants/:slug/rotate',
    name: 'admin_rotate_secret',
    summary: 'A new secret',
    parameters: { path, query: RotateQuery },
    success: { status: 200, description: 'The partner with its secret, this once', json: Secret },
    refusals: ['TENANT_UNKNOWN', 'OUTCOME_UNKNOWN'],
    async handle({ path: { slug }, query, actor }, reply) {
      const rotated = await tenants.rotate(slug, query.now, actor)
      return rotated.ok ? reply.send(rotated.value) : sendRefusal(reply, rotated.code)
    },
  })
}

function sendRefusal(reply: FastifyReply, code: TenantRefusal['code']): FastifyReply {
  const errors = code === 'SLUG_TAKEN' ? [{ path: 'slug', message: 'is taken by another tenant' }] : undefined
  return sendProblem(reply, code, { errors })
}
