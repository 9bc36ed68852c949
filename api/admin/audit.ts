/** `GET /audit`: lists audit entries, newest first. */

import type pg from 'pg'
import { auditPage } from '../../auth/audit.ts'
import { AuditPage } from '../../auth/audit-page.ts'
import { type AdminOperation, operation } from './operation.ts'
import { PageQuery } from './request-fields.ts'

export function auditOperation(postgres: pg.Pool): AdminOperation {
  return operation({
    method: 'GET',
    path: '/audit',
    name: 'admin_read_audit',
    summary: 'The audit log, newest first',
    parameters: { query: PageQuery },
    success: { status: 200, description: 'A page of it', json: AuditPage.meta({ id: 'AuditPage' }) },
    handle: async ({ query }, reply) => reply.send(await auditPage(postgres, query.page)),
  })
}
