/** Partners by HTTP, for administrators: a page of them, one, a new one, changes, and new secrets. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { NewTenant, TenantChange, TenantSlug } from '../../auth/tenants/tenant.ts'
import type { TenantRefusal, Tenants } from '../../auth/tenants/tenants.ts'
import { actorIn } from './guard.ts'
import { addPath } from './paths.ts'
import { sendInvalid, sendProblem } from './problem.ts'
import { pageNumber, rotateNow } from './query-fields.ts'

const ListQuery = z.strictObject({ page: pageNumber })
const RotateQuery = z.strictObject({ now: rotateNow })

export function registerTenants(scope: FastifyInstance, tenants: Tenants): void {
  async function list(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = ListQuery.safeParse(request.query)
    if (!query.success) return sendInvalid(reply, 'QUERY_INVALID', query.error)
    return reply.send(await tenants.list(query.data.page))
  }

  async function get(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const details = await tenants.get(slugIn(request))
    return details === undefined ? sendProblem(reply, 'TENANT_UNKNOWN') : reply.send(details)
  }

  async function add(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const wanted = NewTenant.safeParse(request.body)
    if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
    const added = await tenants.add(wanted.data, actorIn(request))
    if (!added.ok) return sendRefusal(reply, added.code)
    return reply.code(201).header('location', `/api/admin/tenants/${added.value.slug}`).send(added.value)
  }

  async function change(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const wanted = TenantChange.safeParse(request.body)
    if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
    const changed = await tenants.change(slugIn(request), wanted.data, actorIn(request))
    return changed.ok ? reply.send(changed.value) : sendRefusal(reply, changed.code)
  }

  async function rotate(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = RotateQuery.safeParse(request.query)
    if (!query.success) return sendInvalid(reply, 'QUERY_INVALID', query.error)
    const rotated = await tenants.rotate(slugIn(request), query.data.now, actorIn(request))
    return rotated.ok ? reply.send(rotated.value) : sendRefusal(reply, rotated.code)
  }

  addPath(scope, '/tenants', { GET: list, POST: add })
  addPath(scope, '/tenants/:slug', { GET: get, PATCH: change })
  addPath(scope, '/tenants/:slug/rotate', { POST: rotate })
}

/** Empty for what can be the slug of no tenant. */
function slugIn(request: FastifyRequest): string {
  return TenantSlug.safeParse((request.params as { slug: string }).slug).data ?? ''
}

function sendRefusal(reply: FastifyReply, code: TenantRefusal['code']): FastifyReply {
  const errors = code === 'SLUG_TAKEN' ? [{ path: 'slug', message: 'is taken by another tenant' }] : undefined
  return sendProblem(reply, code, { errors })
}
