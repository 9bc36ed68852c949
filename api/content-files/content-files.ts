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
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type pg from 'pg'
import type { Filters } from '../../content/filters.ts'
import { createIndexHolder, type IndexHolder } from '../../content/index-holder.ts'
import { createRepository, type Repository } from '../../content/repository.ts'
import type { Log } from '../../store/log.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import { hasBody } from '../http/body-deadlines.ts'
import { createPublicAddress } from '../http/public-address.ts'
import { hasTooManyArguments } from '../http/query-limits.ts'
import type { RouteFamily } from '../http/route-family.ts'
import { type Answer, indented, listAnswer } from './answer.ts'
import {
  type ContentFileErrorCode,
  contentFileErrors,
  errorAnswer,
  invalidFilters,
  methodNotAllowed,
} from './errors.ts'
import { filterErrors, readFilters } from './filters.ts'
import { renderPage } from './html/page.ts'
import { contentSecurityPolicy } from './html/style.ts'
import { type Form, negotiate } from './negotiation.ts'
import { allowedMethods, optionsAnswer } from './options.ts'
import { createPage, type Shown } from './page-model.ts'
import { linksOf, readPaging } from './paging.ts'
import { Query } from './query-string.ts'
import { apiPrefix, listPath, queryOf, routedUrl, slashedUrl } from './requested-path.ts'

export interface ContentFilesOptions {
  postgres: pg.Pool
  /** Under which address clients reach the service; without it, links say what the request says. */
  publicUrl: string | undefined
  log: Log
}

interface Parts {
  repository: Repository
  indexHolder: IndexHolder
  addressOf: (request: FastifyRequest) => string
  log: Log
}

/** What every request of the two routes asks, whatever its method. */
interface Asked {
  kind: Shown['kind']
  query: Query
  form: Form
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the negotiation of the content files, before any handler. */
    asked: Asked | null
  }
}

type Found = Pick<Shown, 'answer' | 'part'>
type Find = (request: FastifyRequest, asked: Asked) => Found | Promise<Found>

export function contentFilesFamily({ postgres, publicUrl, log }: ContentFilesOptions): RouteFamily {
  const indexHolder = createIndexHolder({ pool: postgres, nowMs: () => performance.now(), log })
  const addressOf = createPublicAddress(publicUrl)
  const parts: Parts = { repository: createRepository(postgres, indexHolder), indexHolder, addressOf, log }
  return {
    prefix: apiPrefix,
    routedUrl,
    register(scope) {
      scope.decorateRequest('asked', null)
      // Before anything of a body is looked at.
      scope.addHook('onRequest', closeBehindBody)
      scope.addHook('onReady', done => {
        indexHolder.prepare()
        done()
      })
      scope.addHook('onClose', () => indexHolder.close())
      answerErrors(scope, log)
      addRoute(scope, parts, '/contentfiles', 'list', (request, { query }) => findPage(parts, request, query))
      // Of any length, which a named parameter has not.
      addRoute(scope, parts, '/contentfiles/*', 'file', (request, { query }) =>
        findFile(parts, query, (request.params as { '*': string })['*']),
      )
    },
  }
}

function answerErrors(scope: FastifyInstance, log: Log): void {
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

/** One of the two paths with all methods, each behind the redirect and the negotiation. */
function addRoute(scope: FastifyInstance, parts: Parts, url: string, kind: Shown['kind'], find: Find): void {
  const only = (answer: Answer): Found => ({ answer, part: undefined })
  const answerWith = (find: Find) => async (request: FastifyRequest, reply: FastifyReply) =>
    await answer(parts, request, reply, find)
  const judge = (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    if (negotiateForm(request, reply, kind)) done()
  }
  // A body is not for anybody: all but GET is answered before it is looked at.
  const addMethods = (method: string[], find: Find) =>
    scope.route({ method, url, onRequest: [judge, answerWith(find)], handler: () => undefined })
  scope.route({ method: 'GET', url, onRequest: judge, handler: answerWith(find) })
  addMethods(['OPTIONS'], () => only(optionsAnswer(kind)))
  addMethods(
    scope.supportedMethods.filter(method => !allowedMethods.includes(method)),
    ({ method }) => only(methodNotAllowed(method)),
  )
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
  if (found.answer.status === 503) reply.header('retry-after', String(contentFileErrors.UNAVAILABLE.retryAfterSeconds))
  return await send(parts, request, reply, { ...asked, ...found })
}

async function findPage({ repository, addressOf }: Parts, request: FastifyRequest, query: Query): Promise<Found> {
  const { filters, errors } = readFilters(query)
  const invalid = filterErrors(errors, await repository.unknownCodes(filters))
  if (invalid !== undefined) return { answer: invalidFilters(invalid), part: undefined }
  const paging = readPaging(query)
  const { count, files } = await repository.list(filters, { offset: Number(paging.offset), limit: paging.limit })
  const links = linksOf(`${addressOf(request)}${listPath}`, query, paging, count)
  return { answer: listAnswer(count, links, files), part: { paging, count } }
}

async function findFile({ repository }: Parts, query: Query, text: string): Promise<Found> {
  const { filters, errors } = readFilters(query)
  const invalid = filterErrors(errors, await repository.unknownCodes(filters))
  const answer = invalid === undefined ? await fileAnswer(repository, filters, text) : invalidFilters(invalid)
  return { answer, part: undefined }
}

async function fileAnswer(repository: Repository, filters: Filters, text: string): Promise<Answer> {
  if (!/^-?\d+$/.test(text)) return errorAnswer('ID_INVALID')
  const id = Number(text)
  // Digits of any number, of which none but those of a safe integer can be the id of a file.
  const file = Number.isSafeInteger(id) ? await repository.file(filters, id) : undefined
  return file === undefined ? errorAnswer('FILE_UNKNOWN') : { status: 200, json: Buffer.from(file) }
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
