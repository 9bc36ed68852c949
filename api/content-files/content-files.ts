/**
 * Serves the listing of content files.
 *
 * rules.ts orders the checks of a request: its path (requested-path.ts), the number of its arguments, `format` and
 * Accept (negotiation.ts), its method, its filters (filters.ts), its id. The repository (query/content/repository.ts)
 * answers it from two sources. An index of all published files in memory (listing-index.ts) has columns of numbers in
 * the order of the listing. It counts the files behind a filter and finds the ids at an offset (by class in
 * file-classes.ts, by run in file-selection.ts), so that counts and deep offsets do not query PostgreSQL.
 * file-reader.ts reads these ids by key, one query a page, and file-text.ts joins them with the texts of a run, which
 * run-cache.ts keeps. Each query also returns the version of the data, which every change raises in its transaction;
 * index-holder.ts updates the index. The answer is JSON, or a page (page-model.ts, html/).
 */

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type pg from 'pg'
import { createIndexHolder } from '../../query/content/index-holder.ts'
import { createRepository } from '../../query/content/repository.ts'
import type { Log } from '../../store/log.ts'
import type { FindVisitor } from '../http/page-document.ts'
import { createPublicAddress } from '../http/request-address.ts'
import { hasBody } from '../http/request-body.ts'
import { createFamily, type PublishedFamily, type Scope } from '../http/route-family.ts'
import { contentFileErrors, sendError } from './answer.ts'
import {
  ContentFileError,
  type ContentFileOperation,
  fileOperation,
  listOperation,
  type OperationInput,
} from './operations.ts'
import { apiPrefix, routedUrl } from './requested-path.ts'
import { rulesOf } from './rules.ts'

export interface ContentFilesOptions {
  postgres: pg.Pool
  /** Public address of the service. Without it, links have the request's address. */
  publicUrl: string | undefined
  /** Without it, pages do not show the signed-in account. */
  findVisitor?: FindVisitor
  log: Log
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The negotiation sets it before any handler. */
    asked: OperationInput | null
  }
}

export function contentFilesFamily({
  postgres,
  publicUrl,
  findVisitor,
  log,
}: ContentFilesOptions): PublishedFamily<ContentFileOperation> {
  const indexHolder = createIndexHolder({ pool: postgres, nowMs: () => performance.now(), log })
  const sources = { repository: createRepository(postgres, indexHolder), addressOf: createPublicAddress(publicUrl) }
  return createFamily<ContentFileOperation>({
    prefix: apiPrefix,
    tag: {
      name: 'content files',
      description: 'Files of course runs, newest first. The answer lists all invalid filters.',
    },
    groups: [{ operations: [listOperation(sources), fileOperation(sources)] }],
    rules: rulesOf({ indexHolder, findVisitor, log }),
    error: { schema: ContentFileError, text: ['text/html'] },
    refusalsOf: ({ refusals = [] }) => [...refusals, ...refusalsOfAll].map(code => contentFileErrors[code]),
    routedUrl,
    prepare(scope) {
      scope.decorateRequest('asked', null)
      // Runs before the body is parsed.
      scope.addHook('onRequest', closeBehindBody)
      scope.addHook('onReady', done => {
        indexHolder.prepare()
        done()
      })
      scope.addHook('onClose', () => indexHolder.close())
      answerErrors(scope, log)
    },
  })
}

const refusalsOfAll = ['TOO_MANY_ARGUMENTS', 'NOT_ACCEPTABLE', 'INTERNAL', 'UNAVAILABLE'] as const

function answerErrors(scope: Scope, log: Log): void {
  scope.setNotFoundHandler((_request, reply) => sendError(reply, 'PATH_UNMATCHED'))
  scope.setErrorHandler((error: FastifyError, _request, reply) => {
    // The send budget rejects with 503 while too many answers are in progress. This is not logged.
    const isBusy = error.statusCode === 503
    if (!isBusy) log.error({ err: error }, 'could not send a content-files response')
    return sendError(reply, isBusy ? 'UNAVAILABLE' : 'INTERNAL')
  })
}

function closeBehindBody({ raw }: FastifyRequest, reply: FastifyReply, done: () => void): void {
  // A body stays unread, so the connection cannot be used again.
  if (hasBody(raw)) reply.header('connection', 'close')
  done()
}
