/**
 * The listing of content files: who asks what, and in which form the answer goes out.
 *
 * A request is judged in this order: its path (requested-path.ts), how many arguments it has, `format` and Accept
 * (negotiation.ts), its method, its filters (filters.ts), its id. The repository (content/repository.ts) answers it from two sources. An index of
 * all published files in memory (listing-index.ts), made of columns of numbers in the order of the listing, tells how
 * many files a filter lets through, and which ids stand at an offset (by class in file-classes.ts, by run in
 * file-selection.ts); so neither a count nor a deep offset costs PostgreSQL anything. Those ids are then read there by
 * their key, one query a page (file-reader.ts), as texts that are put together (file-text.ts) with those that the files
 * of a run share, which are kept (run-cache.ts). Each such query also tells the version of the data, which every change
 * raises in its transaction; index-holder.ts sees to it that the index follows. The answer is JSON, or is shown on a page
 * (page-model.ts, html/).
 */

import assert from 'node:assert/strict'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type pg from 'pg'
import { createIndexHolder, type IndexHolder } from '../../content/index-holder.ts'
import { createRepository } from '../../content/repository.ts'
import type { Log } from '../../store/log.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import { hasBody } from '../http/body-deadlines.ts'
import { setRetryAfter } from '../http/errors.ts'
import { createPublicAddress } from '../http/public-address.ts'
import { hasTooManyArguments } from '../http/query-limits.ts'
import { createFamily, type PublishedFamily, type Rules } from '../http/register-operations.ts'
import type { Scope } from '../http/scope.ts'
import { type Answer, indented } from './answer.ts'
import { type ContentFileErrorCode, contentFileErrors, errorAnswer, methodNotAllowed } from './errors.ts'
import { renderPage } from './html/page.ts'
import { contentSecurityPolicy } from './html/style.ts'
import { negotiate } from './negotiation.ts'
import {
  type Asked,
  type ContentFileOperation,
  type Find,
  type Found,
  fileOperation,
  listOperation,
} from './operations.ts'
import { allowedMethods, optionsAnswer } from './options.ts'
import { createPage, type Shown } from './page-model.ts'
import { Query } from './query-string.ts'
import { apiPrefix, queryOf, routedUrl, slashedUrl } from './requested-path.ts'
import { ContentFileError } from './schemas.ts'

export interface ContentFilesOptions {
  postgres: pg.Pool
  /** Under which address clients reach the service; without it, links say what the request says. */
  publicUrl: string | undefined
  log: Log
}

type Parts = Pick<ContentFilesOptions, 'log'> & { indexHolder: IndexHolder }

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the negotiation of the content files, before any handler. */
    asked: Asked | null
  }
}

export function contentFilesFamily({
  postgres,
  publicUrl,
  log,
}: ContentFilesOptions): PublishedFamily<ContentFileOperation> {
  const indexHolder = createIndexHolder({ pool: postgres, nowMs: () => performance.now(), log })
  const sources = { repository: createRepository(postgres, indexHolder), addressOf: createPublicAddress(publicUrl) }
  return createFamily<ContentFileOperation>({
    prefix: apiPrefix,
    tag: { name: 'content files', description: 'Files of course runs, newest first. Wrong filters are all told.' },
    groups: [{ operations: [listOperation(sources), fileOperation(sources)] }],
    rules: rulesOf({ indexHolder, log }),
    error: { schema: ContentFileError, text: ['text/html'] },
    refusalsOf: ({ refusals = [] }) => [...refusals, ...refusalsOfAll].map(code => contentFileErrors[code]),
    routedUrl,
    prepare(scope) {
      scope.decorateRequest('asked', null)
      // Before anything of a body is looked at.
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

/** Every method of the two paths is behind the redirect and the negotiation, and none has a body. */
function rulesOf(parts: Parts): Rules<ContentFileOperation> {
  const only = (answer: Answer): Found => ({ answer, part: undefined })
  return {
    onRequest:
      ({ kind }) =>
      (request, reply, done) => {
        if (negotiateForm(request, reply, kind)) done()
      },
    handler:
      ({ find }) =>
      (request, reply) =>
        answer(parts, request, reply, find),
    refuseMethod(request, reply, _allowed, [operation]) {
      assert(operation !== undefined, 'a path has an operation')
      const { kind } = operation
      if (!negotiateForm(request, reply, kind)) return reply
      const { method } = request
      const refusal = method === 'OPTIONS' ? optionsAnswer(kind) : methodNotAllowed(method)
      return answer(parts, request, reply, () => only(refusal))
    },
  }
}

function answerErrors(scope: Scope, log: Log): void {
  scope.setNotFoundHandler((_request, reply) => sendError(reply, 'PATH_UNMATCHED'))
  scope.setErrorHandler((error: FastifyError, _request, reply) => {
    // What could not be sent, since others are being sent; all else was told before.
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

/** False when the request was answered here. */
function negotiateForm(request: FastifyRequest, reply: FastifyReply, kind: Shown['kind']): boolean {
  const { headers, originalUrl } = request
  const location = slashedUrl(originalUrl)
  if (location !== undefined) {
    sendHtml(reply.code(301).header('location', location), '')
    return false
  }
  reply.headers({ allow: allowedMethods.join(', '), vary: 'Accept' })
  const text = queryOf(originalUrl)
  if (hasTooManyArguments(text)) {
    sendError(reply, 'TOO_MANY_ARGUMENTS')
    return false
  }
  const query = new Query(text)
  const negotiated = negotiate(headers.accept, query.last('format'))
  if (!negotiated.ok) {
    sendError(reply, negotiated.code)
    return false
  }
  request.asked = { kind, query, form: negotiated.form }
  return true
}

async function answer(parts: Parts, request: FastifyRequest, reply: FastifyReply, find: Find): Promise<FastifyReply> {
  const { asked } = request
  assert(asked !== null, 'BUG: a request of the content files was not negotiated')
  let found: Found
  try {
    found = await find(request, asked)
  } catch (error) {
    found = { answer: failure(parts, error), part: undefined }
  }
  if (found.answer.status === 503) setRetryAfter(reply, contentFileErrors.UNAVAILABLE.retryAfterSeconds)
  return await send(parts, request, reply, { ...asked, ...found })
}

/** PostgreSQL may be away for a while; anything else is a bug of ours. */
function failure({ log }: Parts, error: unknown): Answer {
  if (isUnavailable(error)) return errorAnswer('UNAVAILABLE')
  log.error({ err: error }, 'content-files request failed')
  return errorAnswer('INTERNAL')
}

async function send(
  { indexHolder }: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
  { kind, query, form, answer, part }: Asked & Found,
): Promise<FastifyReply> {
  if (form.kind === 'json') return sendJson(reply, answer, form.indent)
  const { method, originalUrl: url } = request
  // The page of an error can do without a form.
  const choices = kind === 'list' ? await indexHolder.current().catch(() => undefined) : undefined
  const page = createPage({ kind, method, url, query, answer, choices, part })
  reply.code(answer.status).header('content-security-policy', contentSecurityPolicy)
  return sendHtml(reply, renderPage(page))
}

function sendError(reply: FastifyReply, code: ContentFileErrorCode): FastifyReply {
  return sendJson(reply, errorAnswer(code), 0)
}

/** A buffer, for to a text the framework would add a charset. */
function sendJson(reply: FastifyReply, answer: Answer, indent: number): FastifyReply {
  const json = indent === 0 ? answer.json : Buffer.from(indented(answer, indent))
  return reply.code(answer.status).header('content-type', 'application/json').send(json)
}

function sendHtml(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', 'text/html; charset=utf-8').send(Buffer.from(text))
}
