/**
 * The listing of content files: who asks what, and in which form the answer goes out.
 *
 * A request is judged in this order: its path (requested-path.ts), how many arguments it has, `format` and Accept
 * (negotiation.ts), its method, its filters (filters.ts), its id. The catalogue (catalogue.ts) answers it from two sources. An index of
 * all published files in memory (listing-index.ts), made of columns of numbers in the order of the listing, tells how
 * many files a filter lets through, and which ids stand at an offset (by class in file-classes.ts, by run in
 * file-selection.ts); so neither a count nor a deep offset costs PostgreSQL anything. Those ids are then read there by
 * their key, one query a page (file-reader.ts), as texts that are put together (file-text.ts) with those that the files
 * of a run share, which are kept (run-cache.ts). Each such query also tells the version of the data, which every change
 * raises in its transaction; listing.ts sees to it that the index follows. The answer is JSON, or is shown on a page
 * (page-model.ts, html/).
 */

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type pg from 'pg'
import { type Catalogue, createCatalogue } from '../../content/catalogue.ts'
import type { Filters } from '../../content/filters.ts'
import { createListing, type Listing } from '../../content/listing.ts'
import type { Log } from '../../store/log.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import { hasTooManyArguments } from '../http/query-limits.ts'
import { type Answer, indented, listAnswer } from './answer.ts'
import { allowedMethods, errorAnswer, invalidFilters, methodNotAllowed, optionsAnswer } from './answers.ts'
import { filterErrors, readFilters } from './filters.ts'
import { renderPage } from './html/page.ts'
import { contentSecurityPolicy } from './html/style.ts'
import { type Form, negotiate } from './negotiation.ts'
import { createPage, type Shown } from './page-model.ts'
import { linksOf, readPaging } from './paging.ts'
import { createPublicAddress } from './public-address.ts'
import { Query } from './query-string.ts'
import { apiPrefix, listPath, type Requested, readPath } from './requested-path.ts'

export interface ContentFilesOptions {
  postgres: pg.Pool
  /** Under which address clients reach the service; without it, links say what the request says. */
  publicUrl: string | undefined
  log: Log
}

/** A path of one of the two routes. */
type Route = Extract<Requested, { query: string }>

interface Parts {
  catalogue: Catalogue
  listing: Listing
  addressOf: (request: FastifyRequest) => string
  log: Log
}

/** Registers everything below `/api/v1/`; the server has to route by `routedUrl`. */
export function registerContentFiles(app: FastifyInstance, options: ContentFilesOptions): void {
  const { postgres, publicUrl, log } = options
  const listing = createListing({ pool: postgres, nowMs: () => performance.now(), log })
  const addressOf = createPublicAddress(publicUrl)
  const parts: Parts = { catalogue: createCatalogue(postgres, listing), listing, addressOf, log }
  const plugin = (scope: FastifyInstance, _options: object, done: () => void) => {
    // Before anything of a body is looked at.
    scope.addHook('onRequest', async (request, reply) => await answer(parts, request, reply))
    scope.addHook('onReady', done => {
      listing.prepare()
      done()
    })
    scope.addHook('onClose', () => listing.close())
    scope.setErrorHandler((error: FastifyError, _request, reply) => {
      // What could not be sent, since others are being sent; all else was told before.
      const isBusy = error.statusCode === 503
      if (!isBusy) log.error({ err: error }, 'an answer of the content files could not be sent')
      return sendJson(reply, errorAnswer(isBusy ? 'UNAVAILABLE' : 'INTERNAL'), 0)
    })
    scope.all('/*', unreached)
    // Methods that the router does not know end here, and meet the same hook.
    scope.setNotFoundHandler(unreached)
    done()
  }
  app.register(plugin, { prefix: apiPrefix })
}

function unreached(): void {
  throw new Error('the hook answers every request')
}

async function answer(parts: Parts, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.headers({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
  })
  const { headers, originalUrl } = request
  // A body stays unread, so the connection cannot be used again.
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  if (hasBody) reply.header('connection', 'close')
  const requested = readPath(originalUrl)
  if (requested.kind === 'unmatched') return sendJson(reply, errorAnswer('PATH_UNMATCHED'), 0)
  if (requested.kind === 'redirect') return sendRedirect(reply, requested.location)
  reply.headers({ allow: allowedMethods.join(', '), vary: 'Accept' })
  if (hasTooManyArguments(requested.query)) return sendJson(reply, errorAnswer('TOO_MANY_ARGUMENTS'), 0)
  const query = new Query(requested.query)
  const negotiated = negotiate(headers.accept, query.last('format'))
  if (!negotiated.ok) return sendJson(reply, errorAnswer(negotiated.code), 0)
  const found = await find(parts, request, requested, query).catch((error: FastifyError) => fault(parts, error))
  if (found.answer.status === 503) reply.header('retry-after', '5')
  return await send(parts, request, reply, negotiated.form, { requested, query, ...found })
}

type Found = Pick<Shown, 'answer' | 'part'>

async function find(
  { catalogue, addressOf }: Parts,
  request: FastifyRequest,
  requested: Route,
  query: Query,
): Promise<Found> {
  const { method } = request
  const only = (answer: Answer): Found => ({ answer, part: undefined })
  if (!allowedMethods.includes(method)) return only(methodNotAllowed(method))
  if (method === 'OPTIONS') return only(optionsAnswer(requested.kind))
  const { filters, errors } = readFilters(query)
  const invalid = filterErrors(errors, await catalogue.unknownCodes(filters))
  if (invalid !== undefined) return only(invalidFilters(invalid))
  if (requested.kind === 'file') return only(await findFile(catalogue, filters, requested.id))
  const paging = readPaging(query)
  const { count, files } = await catalogue.list(filters, { offset: Number(paging.offset), limit: paging.limit })
  const links = linksOf(`${addressOf(request)}${listPath}`, query, paging, count)
  return { answer: listAnswer(count, links, files), part: { paging, count } }
}

async function findFile(catalogue: Catalogue, filters: Filters, text: string): Promise<Answer> {
  if (!/^-?\d+$/.test(text)) return errorAnswer('ID_INVALID')
  const id = Number(text)
  // Digits of any number, of which none but those of a safe integer can be the id of a file.
  const file = Number.isSafeInteger(id) ? await catalogue.file(filters, id) : undefined
  return file === undefined ? errorAnswer('FILE_UNKNOWN') : { status: 200, json: Buffer.from(file) }
}

/** PostgreSQL may be away for a while; anything else is a fault of ours. */
function fault({ log }: Parts, error: FastifyError): Found {
  const isAway = isUnavailable(error)
  if (!isAway) log.error({ err: error }, 'a request of the content files failed')
  return { answer: errorAnswer(isAway ? 'UNAVAILABLE' : 'INTERNAL'), part: undefined }
}

type Sent = Found & { requested: Route; query: Query }

async function send(
  { listing }: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
  form: Form,
  { requested, query, answer, part }: Sent,
): Promise<FastifyReply> {
  if (form.kind === 'json') return sendJson(reply, answer, form.indent)
  const { method, originalUrl: url } = request
  // The page of an error can do without a form.
  const choices = requested.kind === 'list' ? await listing.current().catch(() => undefined) : undefined
  const page = createPage({ kind: requested.kind, method, url, query, answer, choices, part })
  reply.code(answer.status).header('content-security-policy', contentSecurityPolicy)
  return sendHtml(reply, renderPage(page))
}

/** A buffer, for to a text the framework would add a charset. */
function sendJson(reply: FastifyReply, answer: Answer, indent: number): FastifyReply {
  const json = indent === 0 ? answer.json : Buffer.from(indented(answer, indent))
  return reply.code(answer.status).header('content-type', 'application/json').send(json)
}

function sendHtml(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', 'text/html; charset=utf-8').send(Buffer.from(text))
}

function sendRedirect(reply: FastifyReply, location: string): FastifyReply {
  return sendHtml(reply.code(301).header('location', location), '')
}
