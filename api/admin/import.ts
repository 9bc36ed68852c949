/** `POST /api/admin/import`: readings with times of their own, as CSV or NDJSON, streamed into the journal. */

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AuditEntry } from '../../auth/audit.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import type { Format } from '../../ingest/formats/line-reader.ts'
import { createImporter } from '../../ingest/import/import.ts'
import type { ImportResult } from '../../ingest/import/import-session.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import type { Ranges } from '../../ingest/reading.ts'
import { actorIn } from './guard.ts'
import type { ImportAnswer } from './import-answer.ts'
import { decoderOf, feed, knownCodings } from './import-body.ts'
import type { WriteLateAudit } from './late-audit.ts'
import { addPath } from './paths.ts'
import { sendProblem } from './problem.ts'

export interface ImportOptions {
  ingest: Pick<Ingest, 'append' | 'clockUs'>
  devices: Pick<Devices, 'get'>
  /** The same as for single readings. */
  ranges: Ranges
  aheadMsMax: number
  audit: WriteLateAudit
}

const formats = new Map<string, Format>([
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'ndjson'],
])

/**
 * Registers the route in a scope that has checked who asks. It must not be one whose bodies are parsed or measured
 * otherwise: this scope hands the stream on as it is.
 */
export function registerImport(scope: FastifyInstance, options: ImportOptions): void {
  const { ingest, devices, ranges, aheadMsMax, audit } = options
  const importer = createImporter({
    append: ingest.append,
    now: () => Math.floor(ingest.clockUs() / 1000),
    ranges,
    aheadMsMax,
  })
  // Before the server waits for its requests: one of them may be an import that lasts.
  scope.addHook('preClose', () => importer.close())
  scope.removeAllContentTypeParsers()
  // Of every type, so that the route itself can say which ones it takes.
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

  async function take(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const format = formats.get(mediaTypeOf(request))
    if (format === undefined) return refuseMediaType(reply)
    const decoder = decoderOf(request.headers['content-encoding'])
    if (decoder === undefined) return refuseCoding(reply)
    feed(decoder, request.raw)
    const find = (name: string) => devices.get(name.normalize('NFC'))
    const result = await importer.run({ body: decoder, format, find })
    decoder.destroy()
    if (result.report.accepted > 0) await audit(entryOf(actorIn(request), format, result))
    return answer(reply, result, request.raw)
  }

  addPath(scope, '/import', { POST: take })
}

/** Also of an import that stopped half way. */
function entryOf(actor: string, format: Format, { report: { accepted, rejected }, failure }: ImportResult): AuditEntry {
  const details = { format, accepted, rejected, end: failure?.code ?? 'COMPLETE' }
  return { actor, action: 'readings.import', subject: 'readings', details }
}

export function mediaTypeOf(request: FastifyRequest): string {
  const [mediaType = ''] = (request.headers['content-type'] ?? '').split(';')
  return mediaType.trim().toLowerCase()
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

function answer(reply: FastifyReply, { report, failure }: ImportResult, request: IncomingMessage): FastifyReply {
  const members: ImportAnswer = {
    accepted: report.accepted,
    rejected: report.rejected,
    rejects: report.rejects,
    rejects_truncated: report.rejectsTruncated,
    ignored_columns: report.ignoredColumns,
  }
  if (failure === undefined) return reply.send(members)
  // A long body that nobody wants any more is not worth the connection.
  if (!request.complete) reply.header('connection', 'close')
  const detail = `${failure.reason}; stored are ${report.accepted} readings, of the lines up to ${report.linesDone}`
  const code = failure.code === 'UNKNOWN' ? 'STORAGE_FAILED' : failure.code
  return sendProblem(reply, code, { detail, members: { ...members, lines_done: report.linesDone } })
}
