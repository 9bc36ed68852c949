/** `GET /rejections`: readings that were rejected, newest first. From memory, so also while both databases are away. */

import { z } from 'zod'
import type { RejectionEntry } from '../../ingest/rejections/rejection.ts'
import { entriesMax } from '../../ingest/rejections/rejection-ring.ts'
import type { Rejections } from '../../ingest/rejections/rejections.ts'
import { type AdminOperation, operation } from './operation.ts'
import { type Rejection, RejectionPage, rejectionWay } from './rejection-answers.ts'

const rowsPerPage = 100
/** As many digits as `after` takes. */
const afterMax = 999_999_999_999_999
const deviceLengthMax = 256

const RejectionsQuery = z.strictObject({
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the id of a rejection')
    .transform(Number)
    .optional()
    .meta({
      type: 'integer',
      minimum: 0,
      maximum: afterMax,
      pattern: undefined,
      description: '`next` of the page before',
    }),
  limit: z
    .string()
    .regex(/^[1-9]\d{0,3}$/, `must be a whole number from 1 to ${entriesMax}`)
    .transform(Number)
    .refine(limit => limit <= entriesMax, `must be a whole number from 1 to ${entriesMax}`)
    .default(rowsPerPage)
    .meta({ type: 'integer', minimum: 1, maximum: entriesMax, pattern: undefined, default: rowsPerPage }),
  device: z.string().max(deviceLengthMax).optional().meta({ description: 'Only of this device or station.' }),
  way: rejectionWay.optional(),
})

export function rejectionsOperation(rejections: Pick<Rejections, 'list' | 'status'>): AdminOperation {
  return operation({
    method: 'GET',
    path: '/rejections',
    name: 'admin_list_rejections',
    summary: 'Readings that were rejected, newest first',
    description:
      'Since the start of the service. Those of the same way, sender, device and reason are one with a count.',
    parameters: { query: RejectionsQuery },
    success: { status: 200, description: 'A page of them', json: RejectionPage.meta({ id: 'RejectionPage' }) },
    async handle({ query: { after, limit, device, way } }, reply) {
      const { entries, hasMore } = rejections.list({ before: after, limit, device, way })
      const { sinceMs, rejected } = rejections.status()
      const since = new Date(sinceMs).toISOString()
      const next = hasMore ? (entries.at(-1)?.id ?? null) : null
      return reply.send({ since, rejected, rejections: entries.map(shown), next } satisfies RejectionPage)
    },
  })
}

function shown({ id, way, device, sender, reason, count, firstMs, latestMs }: RejectionEntry): Rejection {
  const [at, first_at] = [latestMs, firstMs].map(ms => new Date(ms).toISOString()) as [string, string]
  return { id, at, first_at, way, device: device ?? null, sender, reason, count }
}
