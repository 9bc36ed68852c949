/** The HTTP server: its limits, its route families, and how it stops. */

import { type FastifyError, type FastifyInstance, type FastifyReply, fastify } from 'fastify'
import { answerBrokenRequest } from './broken-requests.ts'
import { readCertificate } from './certificate.ts'
import type { Config } from './config.ts'
import { boundConnections } from './connections.ts'
import { routedUrl } from './content-files/requested-path.ts'
import { type HealthOptions, registerHealth } from './health.ts'
import { type LoggerOptions, registerLogger } from './logger/logger.ts'
import type { Metrics } from './metrics.ts'

export interface ServerOptions {
  config: Pick<Config, 'TLS_CERT' | 'TLS_KEY' | 'TRUST_PROXY' | 'CONNECTIONS_MAX'>
  health: HealthOptions
  metrics: Metrics
  logger: LoggerOptions
  /** Registers the admin API on the scope that it is given. */
  admin: (app: FastifyInstance) => void
  contentFiles: (app: FastifyInstance) => void
}

/**
 * Node checks these only every so often, and swaps the two limits when the first is the larger one, so all three are
 * given. The limit for a whole request is a long one, for the sake of streamed imports; JSON bodies have their own.
 */
const http = { headersTimeout: 5_000, requestTimeout: 30 * 60_000, connectionsCheckingInterval: 1_000 }
const headerBytesMax = 64 * 1024
/** Names may have 64 characters, each of up to four bytes, each byte three characters of a path. */
const parameterLengthMax = 64 * 4 * 3

export function createServer({ config, health, metrics, logger, admin, contentFiles }: ServerOptions): FastifyInstance {
  const tls = readCertificate(config)
  const app = fastify({
    http: { ...http, maxHeaderSize: headerBytesMax },
    ...(tls === undefined ? {} : { https: { ...http, ...tls, maxHeaderSize: headerBytesMax } }),
    trustProxy: config.TRUST_PROXY ?? false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: parameterLengthMax },
    rewriteUrl: ({ url = '/' }) => routedUrl(url),
    frameworkErrors: refusePath,
    clientErrorHandler: answerBrokenRequest,
    // Each family answers for itself while the service stops, in its own shape.
    return503OnClosing: false,
    // A client that neither reads nor writes holds memory for an answer.
    connectionTimeout: 120_000,
    forceCloseConnections: 'idle',
  }) as FastifyInstance
  // Some firmware closes its sending side right behind the request and still wants the answer.
  Object.assign(app.server, { httpAllowHalfOpen: true })
  app.server.maxConnections = config.CONNECTIONS_MAX
  // What is sent to a path that is none is not read; the families that take bodies bring their own parsers.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  registerHealth(app, health)
  metrics.register(app)
  registerLogger(app, logger)
  admin(app)
  contentFiles(app)
  app.setNotFoundHandler(({ headers }, reply) => {
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    if (hasBody) reply.header('connection', 'close')
    return reply.code(404).send({ status: 'not found' })
  })
  boundConnections(app)
  return app
}

/** A path that cannot be decoded never reaches a family. */
function refusePath(error: FastifyError, _request: unknown, reply: FastifyReply): void {
  const code = error.statusCode ?? 400
  reply.code(code).send({ status: code === 414 ? 'uri too long' : 'bad request' })
}
