/** The HTTP server: its limits, its route families, and how it stops. */

import { METHODS } from 'node:http'
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { adminPrefix, type PathRefusal } from '../admin/admin.ts'
import type { Config } from '../config.ts'
import { routedUrl } from '../content-files/requested-path.ts'
import { type LoggerOptions, registerLogger } from '../logger/logger.ts'
import { readCertificate } from './certificate.ts'
import type { Connections } from './connections.ts'
import { type HealthOptions, registerHealth } from './health.ts'
import { createHttpServers } from './http-server.ts'
import type { Metrics } from './metrics.ts'
import { boundSending } from './send-budget.ts'

export interface ServerOptions {
  config: Pick<Config, 'TLS_CERT' | 'TLS_KEY' | 'TRUST_PROXY' | 'CACHE_BYTES_MAX'>
  connections: Connections
  health: HealthOptions
  metrics: Metrics
  logger: LoggerOptions
  admin: {
    /** Registers the admin API on the scope that it is given. */
    register: (app: FastifyInstance) => void
    refusePath: PathRefusal
  }
  contentFiles: (app: FastifyInstance) => void
}

/** Names may have 64 characters, each of up to four bytes, each byte three characters of a path. */
const parameterLengthMax = 64 * 4 * 3

export function createServer(options: ServerOptions): FastifyInstance {
  const { config, connections, health, metrics, logger, admin, contentFiles } = options
  const tls = readCertificate(config)
  const servers = createHttpServers({ tls, connections })
  const app = fastify({
    serverFactory: servers.create,
    // For the address that is told; the factory has its own.
    ...(tls === undefined ? {} : { https: tls }),
    trustProxy: config.TRUST_PROXY ?? false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: parameterLengthMax },
    rewriteUrl: ({ url = '/' }) => routedUrl(url),
    frameworkErrors: (error, request, reply) => refusePath(error, request, reply, admin.refusePath),
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
  boundSending(app, { bytesMax: config.CACHE_BYTES_MAX, nowMs: () => performance.now() })
  registerHealth(app, health)
  metrics.register(app)
  registerLogger(app, logger)
  admin.register(app)
  contentFiles(app)
  app.setNotFoundHandler(({ headers }, reply) => {
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    if (hasBody) reply.header('connection', 'close')
    return reply.code(404).send({ status: 'not found' })
  })
  app.addHook('preClose', done => {
    connections.closeAll()
    done()
  })
  app.addHook('onClose', (_app, done) => {
    servers.close()
    done()
  })
  return app
}

/** A path that cannot be decoded, or is too long, reaches no family. */
function refusePath(error: FastifyError, request: FastifyRequest, reply: FastifyReply, inAdmin: PathRefusal): void {
  const code = error.statusCode ?? 400
  const status = code === 414 ? 'uri too long' : 'bad request'
  if (request.url.startsWith(`${adminPrefix}/`)) inAdmin(request, reply, { status: code, title: status })
  else reply.code(code).send({ status })
}
