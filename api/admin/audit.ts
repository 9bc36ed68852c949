/** `GET /audit`: who did what, newest first. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type pg from 'pg'
import { z } from 'zod'
import { auditPage } from '../../auth/audit-list.ts'
import { addPath } from './paths.ts'
import { sendInvalid } from './problem.ts'
import { pageNumber } from './query-fields.ts'

const ListQuery = z.strictObject({ page: pageNumber })

export function registerAudit(scope: FastifyInstance, postgres: pg.Pool): void {
  async function list(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = ListQuery.safeParse(request.query)
    if (!query.success) return sendInvalid(reply, 'QUERY_INVALID', query.error)
    return reply.send(await auditPage(postgres, query.data.page))
  }

  addPath(scope, '/audit', { GET: list })
}
