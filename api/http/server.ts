/** The HTTP server: its limits, its route families, and how it stops. */

import { METHODS } from 'node:http'
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import Negotiator from 'negotiator'
import type { Config } from '../../service/settings/config.ts'
import { readCertificate } from '../../store/certificate.ts'
import type { Connections } from '../../store/limits/connections.ts'
import type { Log } from '../../store/log.ts'
import { hasBody } from './body-deadlines.ts'
import { errorCodeOf, type ServerErrorCode, sendServerError, serverErrors } from './errors.ts'
import { html } from './html.ts'
import { createHttpServers } from './http-server.ts'
import { type FindVisitor, renderDocument, type Visitor } from './page-document.ts'
import { createPageStyle } from './page-style.ts'
import { rootFrom } from './root-from.ts'
import { createFamilyFinder, type RouteFamily } from './route-family.ts'
import { addSecurityHeaders, pageHeaders, securityHeaders } from './security-headers.ts'
import { boundSending } from './send-budget.ts'

export interface ServerOptions {
  config: Pick<Config, 'TLS_CERT' | 'TLS_KEY' | 'TRUST_PROXY' | 'CACHE_BYTES_MAX'>
  connections: Connections
  /** Measures all requests. */
  measure: (app: FastifyInstance) => void
  families: readonly RouteFamily[]
  /** Why reads find no database, where that is known. Each family writes it in its own shape. */
  databaseFault?: () => string | undefined
  /** Without it, pages of errors do not show who is signed in. */
  findVisitor?: FindVisitor
  log: Log
}

/** Names may have 64 characters, each of up to four bytes, each byte three characters of a path. */
const parameterLengthMax = 64 * 4 * 3

export function createServer(options: ServerOptions): FastifyInstance {
  const { config, connections, measure, families, databaseFault } = options
  const tls = readCertificate(config)
  const servers = createHttpServers({ tls, connections })
  const familyOf = createFamilyFinder(families)
  const app = fastify({
    serverFactory: servers.create,
    // For the address that is told; the factory has its own.
    ...(tls === undefined ? {} : { https: tls }),
    trustProxy: config.TRUST_PROXY ?? false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: parameterLengthMax },
    rewriteUrl: ({ url = '/' }) => familyOf(url)?.routedUrl?.(url) ?? url,
    // A path that cannot be decoded, or is too long.
    frameworkErrors: (error, request, reply) => {
      const code = error.statusCode ?? 400
      // No hook is reached.
      reply.headers(securityHeaders)
      const refusePath = familyOf(request.url)?.refusePath ?? refusePathOfNone
      refusePath(request, reply, code)
    },
    // Every server has a handler of its own, also those that the framework makes beside the first.
    clientErrorHandler: () => undefined,
    // Each family answers for itself while the service stops, in its own shape.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
  }) as FastifyInstance
  // So that every path can refuse every method that it does not have.
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method)
  }
  // What is sent to a path that is none is not read; the families that take bodies bring their own parsers.
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

/** For families without a handler of theirs. */
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

const words: Record<RefusalCode, { title: string; sentence: string }> = {
  BAD_REQUEST: { title: 'Not an address', sentence: 'This address cannot be read.' },
  NOT_FOUND: { title: 'Not found', sentence: 'There is no page at this address.' },
  URI_TOO_LONG: { title: 'Too long', sentence: 'This address is too long.' },
}

/** What the server says of an address at which it has nothing: a page for browsers, JSON for all others. */
function isAnsweredByPage({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && prefersHtml(headers.accept)
}

/** `visitor`: who is signed in, where that is known. */
function refuseAddress(
  request: FastifyRequest,
  reply: FastifyReply,
  code: RefusalCode,
  visitor?: Visitor | null,
): FastifyReply {
  reply.header('vary', 'accept')
  if (!isAnsweredByPage(request)) return sendServerError(reply, code)
  const { title, sentence } = words[code]
  const root = rootFrom(request.originalUrl)
  const body = html`<main id="main">
<h1>${title}</h1>
<p>${sentence} <a href="${root}">To the fleet</a></p>
</main>`
  return reply
    .code(serverErrors[code].status)
    .headers({ ...pageHeaders, 'content-security-policy': contentSecurityPolicy })
    .header('content-type', 'text/html; charset=utf-8')
    .send(renderDocument({ title, style, body, root, visitor }))
}

/** At equal preference the first one is sent. */
const types = ['application/json', 'text/html']

/** Not of one that takes anything, as `curl` does; browsers name it. */
function prefersHtml(accept: string | undefined): boolean {
  return accept !== undefined && new Negotiator({ headers: { accept } }).mediaTypes(types)[0] === 'text/html'
}
