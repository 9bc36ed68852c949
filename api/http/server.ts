/** Creates the HTTP server: its limits, its route families and its shutdown. */

import { METHODS } from 'node:http'
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import Negotiator from 'negotiator'
import type { Words } from '../../analytics/findings/words.ts'
import type { Config } from '../../service/settings/config.ts'
import { readCertificate } from '../../store/certificate.ts'
import type { Connections } from '../../store/limits/connections.ts'
import type { Log } from '../../store/log.ts'
import { errorCodeOf, type ServerErrorCode, sendServerError, serverErrors } from './errors.ts'
import { html } from './html.ts'
import { createHttpServers } from './http-server.ts'
import { createPageStyle, type FindVisitor, renderDocument, rootFrom, type Visitor } from './page-document.ts'
import { wordsFor } from './page-words.ts'
import { hasBody } from './request-body.ts'
import { addSecurityHeaders, pageHeaders, securityHeaders } from './response-headers.ts'
import { createFamilyFinder, type RouteFamily } from './route-family.ts'
import { boundSending } from './send-budget.ts'

export interface ServerOptions {
  config: Pick<Config, 'TLS_CERT' | 'TLS_KEY' | 'TRUST_PROXY' | 'CACHE_BYTES_MAX'>
  connections: Connections
  measure: (app: FastifyInstance) => void
  families: readonly RouteFamily[]
  /** Reason why reads find no database, if known. Each family writes it in its own shape. */
  databaseFault?: () => string | undefined
  /** Without it, error pages do not show the signed-in account. */
  findVisitor?: FindVisitor
  log: Log
}

/** Names may have 64 characters of up to four bytes, each three characters of a path. */
const parameterLengthMax = 64 * 4 * 3

export function createServer(options: ServerOptions): FastifyInstance {
  const { config, connections, measure, families, databaseFault } = options
  const tls = readCertificate(config)
  const servers = createHttpServers({ tls, connections })
  const familyOf = createFamilyFinder(families)
  const app = fastify({
    serverFactory: servers.create,
    // Fastify derives the reported address from this option. The factory has its own options.
    ...(tls === undefined ? {} : { https: tls }),
    trustProxy: config.TRUST_PROXY ?? false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: parameterLengthMax },
    rewriteUrl: ({ url = '/' }) => familyOf(url)?.routedUrl?.(url) ?? url,
    // The path cannot be decoded or is too long.
    frameworkErrors: (error, request, reply) => {
      const code = error.statusCode ?? 400
      // These answers bypass the hooks.
      reply.headers(securityHeaders)
      const refusePath = familyOf(request.url)?.refusePath ?? refusePathOfNone
      refusePath(request, reply, code)
    },
    // Every server has its own handler, also those that the framework creates besides the first.
    clientErrorHandler: () => undefined,
    // Each family writes its own answer while the service stops.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
  }) as FastifyInstance
  // Every path refuses every method that it does not have.
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method)
  }
  // Bodies to unknown paths are not read. Families with bodies add parsers.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  if (databaseFault !== undefined) app.decorate('databaseFault', databaseFault)
  addSecurityHeaders(app)
  boundSending(app, { bytesMax: config.CACHE_BYTES_MAX, nowMs: () => performance.now() })
  answerErrors(app, options)
  measure(app)
  for (const { prefix, register } of families) {
    app.register(
      (scope, _options, done) => {
        register(scope)
        done()
      },
      { prefix },
    )
  }
  closeWith(app, connections, servers)
  return app
}

/** Answers for families without an error handler. */
function answerErrors(app: FastifyInstance, { findVisitor, log }: ServerOptions): void {
  app.setErrorHandler((error: FastifyError, _request, reply) => {
    const code = errorCodeOf(error)
    if (code === 'INTERNAL') log.error({ err: error }, 'request failed')
    return sendServerError(reply, code)
  })
  app.setNotFoundHandler(async (request, reply) => {
    if (hasBody(request.raw)) reply.header('connection', 'close')
    const visitor = isAnsweredByPage(request) ? await findVisitor?.(request.raw) : undefined
    return refuseAddress(request, reply, 'NOT_FOUND', visitor)
  })
}

function refusePathOfNone(request: FastifyRequest, reply: FastifyReply, code: number): void {
  refuseAddress(request, reply, code === 414 ? 'URI_TOO_LONG' : 'BAD_REQUEST')
}

function closeWith(app: FastifyInstance, connections: Connections, servers: { close(): void }): void {
  app.addHook('preClose', done => {
    connections.closeAll()
    done()
  })
  app.addHook('onClose', (_app, done) => {
    servers.close()
    done()
  })
}

const { element: style, contentSecurityPolicy } = createPageStyle(`
main { padding: 32px var(--narrow-side) 64px; }
`)

type RefusalCode = Extract<ServerErrorCode, 'BAD_REQUEST' | 'NOT_FOUND' | 'URI_TOO_LONG'>

const refusalTexts = ({ t }: Words): Record<RefusalCode, { title: string; sentence: string }> => ({
  BAD_REQUEST: { title: t('Not an address'), sentence: t('This address cannot be read.') },
  NOT_FOUND: { title: t('Not found'), sentence: t('There is no page at this address.') },
  URI_TOO_LONG: { title: t('Too long'), sentence: t('This address is too long.') },
})

/** Browsers get a page for an unknown address, other clients JSON. */
function isAnsweredByPage({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && prefersHtml(headers.accept)
}

/** `visitor` is the signed-in account, if known. */
function refuseAddress(
  request: FastifyRequest,
  reply: FastifyReply,
  code: RefusalCode,
  visitor?: Visitor | null,
): FastifyReply {
  reply.header('vary', 'accept, accept-language')
  if (!isAnsweredByPage(request)) return sendServerError(reply, code)
  const words = wordsFor(request.raw, visitor?.language)
  const { title, sentence } = refusalTexts(words)[code]
  const root = rootFrom(request.originalUrl)
  const body = html`<main id="main">
<h1>${title}</h1>
<p>${sentence} <a href="${root}">${words.t('To the fleet')}</a></p>
</main>`
  return reply
    .code(serverErrors[code].status)
    .headers({ ...pageHeaders, 'content-security-policy': contentSecurityPolicy })
    .header('content-type', 'text/html; charset=utf-8')
    .send(renderDocument({ title, style, body, root, visitor, words }))
}

/** The first one is sent at equal preference. */
const types = ['application/json', 'text/html']

/** False for clients that accept anything, such as `curl`. Browsers name the type. */
function prefersHtml(accept: string | undefined): boolean {
  return accept !== undefined && new Negotiator({ headers: { accept } }).mediaTypes(types)[0] === 'text/html'
}
