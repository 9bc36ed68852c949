/** Serves content files to operators: imports, unpublishes and removes batches of lines, and exports all files. */

import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type pg from 'pg'
import { writeAudit } from '../../auth/audit.ts'
import { exportLines } from '../../query/content/export.ts'
import { ChangedFiles, chunkBytes, ImportedFiles } from '../../query/content/import/answer.ts'
import { type NameAction, nameActions } from '../../query/content/import/files.ts'
import {
  type ContentFileImporter,
  createContentFileImporter,
  type ImporterOptions,
  type Refused,
} from '../../query/content/import/importer.ts'
import { mediaTypeOf } from '../http/request-body.ts'
import type { OperationGroup } from '../http/route-family.ts'
import { type AdminOperation, type OperationInput, operation } from './operation.ts'
import { sendProblem } from './problem.ts'

const mediaType = 'application/x-ndjson'

const audit: ImporterOptions['audit'] = (transaction, { actor, action, details }) =>
  writeAudit(transaction, {
    actor,
    action: `content-files.${action}`,
    subject: 'content files',
    details,
  })

/** The guard of the scope has checked who asks. Bodies are taken as bytes. */
export function contentFileGroup(postgres: pg.Pool): OperationGroup<AdminOperation> {
  const importer = createContentFileImporter({ postgres, audit })
  let isClosing = false
  return {
    operations: [
      importOperation(importer),
      ...nameActions.map(action => changeOperation(importer, action)),
      exportOperation(postgres, () => isClosing),
    ],
    prepare(scope) {
      // A client with a long file is notified at its next batch, before the server waits for its requests.
      scope.addHook('preClose', async () => {
        isClosing = true
        await importer.close()
      })
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    },
  }
}

const batch = {
  method: 'POST',
  body: { text: [mediaType] },
  bodyBytesMax: chunkBytes,
  refusals: ['TOO_BUSY', 'CLOSING'],
} as const

function importOperation(importer: ContentFileImporter): AdminOperation {
  const json = ImportedFiles.meta({ id: 'ImportedFiles' })
  return operation({
    ...batch,
    path: '/content-files/import',
    name: 'admin_import_files',
    summary: 'Import content files',
    success: { status: 200, description: 'Outcome of the lines', json },
    handle: (asked, reply) => take(asked, reply, importer.importFiles),
  })
}

function changeOperation(importer: ContentFileImporter, action: NameAction): AdminOperation {
  const json = ChangedFiles.meta({ id: 'ChangedFiles' })
  return operation({
    ...batch,
    path: `/content-files/${action}`,
    name: `admin_${action}_files`,
    summary: `${action === 'remove' ? 'Remove' : 'Unpublish'} content files`,
    success: { status: 200, description: 'Outcome of the lines', json },
    handle: (asked, reply) => take(asked, reply, (lines, by) => importer.changeNamed(action, lines, by)),
  })
}

function exportOperation(postgres: pg.Pool, isClosing: () => boolean): AdminOperation {
  return operation({
    method: 'GET',
    path: '/content-files/export',
    name: 'admin_export_files',
    summary: 'Export content files',
    success: { status: 200, description: 'All files, as an import takes them', text: [mediaType] },
    handle: (_asked, reply) => reply.type(mediaType).send(Readable.from(exportLines(postgres, isClosing))),
  })
}

async function take(
  { request, actor }: OperationInput,
  reply: FastifyReply,
  run: (lines: Uint8Array, by: string) => Promise<object | Refused>,
): Promise<FastifyReply> {
  const coding = request.headers['content-encoding'] ?? 'identity'
  if (mediaTypeOf(request) !== mediaType || coding !== 'identity') {
    return sendProblem(reply, 'MEDIA_TYPE_UNSUPPORTED', { detail: `send ${mediaType}, not compressed` })
  }
  const answer = await run(request.body instanceof Uint8Array ? request.body : new Uint8Array(), actor)
  return typeof answer === 'object' ? reply.send(answer) : sendProblem(reply, answer)
}
