/** Streams bulk rows, as CSV or NDJSON, from a route of the admin API into a journal. */

import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AuditEntry, WriteLateAudit } from '../../auth/audit.ts'
import { isPassing } from '../../auth/passing-errors.ts'
import { authorize } from '../../auth/policy.ts'
import type { Format } from '../../ingest/formats/lines.ts'
import { decimalMarks } from '../../ingest/formats/number.ts'
import type { RowKindName } from '../../ingest/formats/row-kinds.ts'
import { codingOf } from '../../ingest/import/body-bytes.ts'
import { createImporter, type Failure, type ImportResult, type ImportSource } from '../../ingest/import/import.ts'
import type { FieldResolver } from '../../ingest/import/resolve-names.ts'
import type { ResolveNames } from '../../ingest/import/thread-body.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import type { Ranges, TimeLimits } from '../../ingest/reading.ts'
import type { RejectedSender } from '../../ingest/rejections/rejection.ts'
import type { FindPrincipal } from '../credentials/find-principal.ts'
import { bodyOf, knownCodings, mediaTypeOf } from '../http/request-body.ts'
import type { OperationGroup } from '../http/route-family.ts'
import { ImportAnswer } from './answers.ts'
import { type AdminOperation, type OperationInput, operation } from './operation.ts'
import { type AdminErrorCode, Problem, sendProblem } from './problem.ts'

export interface ImportRouteOptions extends TimeLimits {
  /** Ranges are the same as for single readings. */
  ranges: Ranges
  audit: WriteLateAudit
  findPrincipal: FindPrincipal
}

export interface ImportRoute extends Pick<AdminOperation, 'path' | 'name' | 'summary'> {
  kind: RowKindName
  ingest: Pick<Ingest, 'append' | 'clockUs'>
  resolve: ResolveNames
  /** Resolves fields without a built-in column. `actor` is the sender. */
  fields?: (actor: string) => FieldResolver
  onStored?: ImportSource['onStored']
  onResult: (sender: RejectedSender, result: ImportResult) => void
  /** Code for a body without rows. */
  noRowsCode: AdminErrorCode
}

const formats = new Map<string, Format>([
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
])

const ImportQuery = z.strictObject({
  decimal: z.enum(decimalMarks).optional().meta({
    description:
      'The decimal mark of numbers in CSV. Without it, all cells decide; a body that leaves it open is refused.',
  }),
})
type ImportQuery = z.infer<typeof ImportQuery>

/** Problem of an import after its start. */
const ImportProblem = Problem.extend({ ...ImportAnswer.partial().shape, lines_done: z.int().optional() }).meta({
  id: 'ImportProblem',
  description: 'RFC 9457. An import that has begun reports its progress.',
})
const refusalsOfImports = [
  'CONTENT_UNKNOWN',
  'HEADER_INVALID',
  'BODY_BROKEN',
  'TOO_BUSY',
  'STORAGE_FULL',
  'CLOSING',
] as const satisfies readonly AdminErrorCode[]
const Answer = ImportAnswer.meta({ id: 'ImportAnswer' })

/** The guard of the scope has admitted the request. The group passes bodies as streams. */
export function importGroup(
  route: ImportRoute,
  { ranges, aheadMsMax, earliestMs, audit, findPrincipal }: ImportRouteOptions,
): OperationGroup<AdminOperation> {
  const { path, name, summary, kind, ingest, resolve, fields, onStored, noRowsCode } = route
  const now = () => Math.floor(ingest.clockUs() / 1000)
  // An imported export replaces readings with the service's own times instead of duplicating them.
  const keepsMicroseconds = true
  const checks = { ranges, aheadMsMax, earliestMs, keepsMicroseconds }
  const importer = createImporter({ kind, append: records => ingest.append(records), now, ...checks })

  async function take(
    { request, query, actor }: OperationInput<unknown, ImportQuery>,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const format = formats.get(mediaTypeOf(request))
    if (format === undefined) return refuseMediaType(reply)
    const coding = codingOf(request.headers['content-encoding'])
    if (coding === undefined) return refuseCoding(reply)
    const refusal = () => refusalOf(request, findPrincipal)
    const { decimal } = query
    const source = { body: bodyOf(request.raw), format, decimal, coding, resolve, fields: fields?.(actor), refusal }
    const result = await importer.run(onStored === undefined ? source : { ...source, onStored })
    route.onResult({ name: actor, isKnown: true }, result)
    if (result.report.accepted > 0) await audit(entryOf(actor, kind, format, result))
    return answer(reply, route, result, request.raw)
  }

  const importOperation = operation({
    method: 'POST',
    path,
    name,
    summary,
    parameters: { query: ImportQuery },
    body: { text: [...formats.keys()] },
    success: { status: 200, description: 'Outcome of the lines', json: Answer },
    refusals: [...refusalsOfImports, noRowsCode, 'STORAGE_FAILED'],
    error: ImportProblem,
    handle: take,
  })
  return {
    operations: [importOperation],
    prepare(scope) {
      // An import may be long, so it has to close before the server waits for its requests.
      scope.addHook('preClose', () => importer.close())
      scope.removeAllContentTypeParsers()
      // The route itself refuses unknown media types.
      scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    },
  }
}

/** The credential may expire while an import runs for hours. */
async function refusalOf(request: FastifyRequest, findPrincipal: FindPrincipal): Promise<Failure | undefined> {
  try {
    const decision = authorize('admin', await findPrincipal(request.raw))
    return decision === 'allowed' ? undefined : refusals[decision]
  } catch (error) {
    if (isPassing(error)) return refusals.later
    throw error
  }
}

const refusals = {
  UNAUTHENTICATED: { code: 'UNAUTHORIZED', reason: 'the credential is no longer valid' },
  FORBIDDEN: { code: 'FORBIDDEN', reason: 'the credential is no longer authorized' },
  later: { code: 'DATABASE_AWAY', reason: 'the credential cannot be looked up at present' },
} as const satisfies Record<string, Failure>

/** An interrupted import is written, too. */
function entryOf(actor: string, kind: RowKindName, format: Format, { report, failure }: ImportResult): AuditEntry {
  const { replaced, rejected } = report
  const details = { format, accepted: report.accepted - replaced, replaced, rejected, end: failure?.code ?? 'COMPLETE' }
  return { actor, action: `${kind}.import`, subject: kind, details }
}

function refuseMediaType(reply: FastifyReply): FastifyReply {
  const detail = `send ${[...formats.keys()].join(' or ')}`
  return sendProblem(reply.header('connection', 'close'), 'MEDIA_TYPE_UNSUPPORTED', { detail })
}

function refuseCoding(reply: FastifyReply): FastifyReply {
  reply.header('connection', 'close').header('accept-encoding', knownCodings)
  const detail = `the content codings are ${knownCodings}`
  return sendProblem(reply, 'CODING_UNSUPPORTED', { detail })
}

function answer(
  reply: FastifyReply,
  { kind, noRowsCode }: ImportRoute,
  { report, failure }: ImportResult,
  request: IncomingMessage,
): FastifyReply {
  const members: ImportAnswer = {
    accepted: report.accepted - report.replaced,
    replaced: report.replaced,
    rejected: report.rejected,
    rejects: report.rejects,
    rejects_truncated: report.rejectsTruncated,
    ...(report.leftOut.rejected > 0 && { left_out: report.leftOut.rejected, left_out_lines: report.leftOut.rejects }),
    ignored_columns: report.ignored,
  }
  if (failure === undefined) return reply.send(members)
  // The rest of a long body is not worth the connection.
  if (!request.complete) reply.header('connection', 'close')
  const detail = `${failure.reason}; ${members.accepted} ${kind} of the lines up to ${report.linesDone} are stored`
  const code = failure.code === 'NO_ROWS' ? noRowsCode : failure.code
  return sendProblem(reply, code, { detail, members: { ...members, lines_done: report.linesDone } })
}
