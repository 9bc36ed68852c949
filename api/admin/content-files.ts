/** Content files by HTTP, for operators: batches of lines that are imported, unpublished or removed, and all of them out. */

import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type pg from 'pg'
import { writeAudit } from '../../auth/audit.ts'
import { exportLines } from '../../content/export.ts'
import { chunkBytes } from '../../content/import/answer.ts'
import { createContentFileImporter, type ImporterOptions, type Refused } from '../../content/import/importer.ts'
import { nameActions } from '../../content/import/named-files.ts'
import { mediaTypeOf } from '../http/media-type.ts'
import { actorIn } from './guard.ts'
import { addPath } from './paths.ts'
import { sendProblem } from './problem.ts'

const mediaType = 'application/x-ndjson'

const audit: ImporterOptions['audit'] = (transaction, { actor, action, details }) =>
  writeAudit(transaction, {
    ...{ actor, action: `content-files.${action}` },
    ...{ subject: 'content files', details },
  })

/** Registers the routes in a scope of their own that has checked who asks: its bodies are taken as bytes. */
export function registerContentFiles(scope: FastifyInstance, postgres: pg.Pool): void {
  const importer = createContentFileImporter({ postgres, audit })
  // Before the server waits for its requests, so that a client with a long file is told at its next batch.
  let isClosing = false
  scope.addHook('preClose', async () => {
    isClosing = true
    await importer.close()
  })
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  function addBatches(path: string, run: (lines: Uint8Array, by: string) => Promise<object | Refused>): void {
    const take = async (request: FastifyRequest, reply: FastifyReply) => {
      const coding = request.headers['content-encoding'] ?? 'identity'
      if (mediaTypeOf(request) !== mediaType || coding !== 'identity') {
        const detail = `send ${mediaType}, not compressed`
        return sendProblem(reply, 'MEDIA_TYPE_UNSUPPORTED', { detail })
      }
      const answer = await run(request.body instanceof Uint8Array ? request.body : new Uint8Array(), actorIn(request))
      return typeof answer === 'object' ? reply.send(answer) : sendProblem(reply, answer)
    }
    addPath(scope, path, { POST: take }, { bodyBytesMax: chunkBytes })
  }

  addBatches('/content-files/import', importer.importFiles)
  for (const action of nameActions) {
    addBatches(`/content-files/${action}`, (lines, by) => importer.changeNamed(action, lines, by))
  }
  const send = (_request: FastifyRequest, reply: FastifyReply) =>
    reply.type(mediaType).send(Readable.from(exportLines(postgres, () => isClosing)))
  addPath(scope, '/content-files/export', { GET: send })
}
