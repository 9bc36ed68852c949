/** Node's HTTP server with our limits: on time, on connections, and on what of a connection is worked on at a time. */

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Certificate } from '../../store/certificate.ts'
import type { Connections } from '../../store/limits/connections.ts'
import { answerBrokenRequest } from './broken-requests.ts'
import { createDeadlines } from './deadlines.ts'
import { emitEndOfEmptyBody } from './empty-bodies.ts'
import { createLingeringClose } from './lingering-close.ts'
import { messageErrorOf, refuseMessage } from './message-error.ts'
import { queueRequests } from './request-queue.ts'

export interface HttpServerOptions {
  tls: Certificate | undefined
  connections: Connections
}

/**
 * Node checks the time limits only every so often, and swaps the two when the first is the larger one, so all three are
 * given. The limit for a whole request is a long one, for the sake of streamed imports; JSON bodies have their own.
 */
const options: ServerOptions = {
  headersTimeout: 5_000,
  requestTimeout: 30 * 60_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 64 * 1024,
  // Node's own refusal would have an empty body in chunks.
  requireHostHeader: false,
  // See empty-bodies.ts.
  optimizeEmptyRequests: true,
}
const keepAliveMs = 72_000
/** A client that neither reads nor writes holds memory for an answer. */
const silenceMsMax = 120_000
/** How long the rest of a body may take that nobody reads. */
const unreadBodyMsMax = 5_000

export interface HttpServers {
  /** A server that hands its requests to `handle`; there is one for each address that `localhost` has. */
  create(handle: RequestListener): Server
  close(): void
}

export function createHttpServers({ tls, connections }: HttpServerOptions): HttpServers {
  const lingeringClose = createLingeringClose()
  const unreadBodies = createDeadlines<IncomingMessage>(unreadBodyMsMax, request => {
    if (!request.complete) request.socket.destroy()
  })

  function start(handle: RequestListener): RequestListener {
    return (request, response) => {
      const error = messageErrorOf(request)
      if (error !== undefined) {
        refuseMessage(response, error)
        return
      }
      if (connections.isDraining()) response.setHeader('connection', 'close')
      emitEndOfEmptyBody(request)
      handle(request, response)
    }
  }

  return {
    create(handle) {
      const listener = queueRequests({ start: start(handle), onUnread: unreadBodies.add })
      const server =
        tls === undefined ? createServer(options, listener) : createTlsServer({ ...options, ...tls }, listener)
      server.keepAliveTimeout = keepAliveMs
      server.setTimeout(silenceMsMax)
      // Some firmware closes its sending side right behind the request and still wants the answer.
      Object.assign(server, { httpAllowHalfOpen: true })
      server.on('clientError', answerBrokenRequest)
      connections.bound(server)
      server.on(tls === undefined ? 'connection' : 'secureConnection', lingeringClose.apply)
      return server
    },
    close() {
      lingeringClose.close()
      unreadBodies.close()
    },
  }
}
