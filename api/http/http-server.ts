/** Node's HTTP server with our limits: on time, on connections, and on what of a connection is worked on at a time. */

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Certificate } from '../../store/certificate.ts'
import type { Connections } from '../../store/limits/connections.ts'
import { createDeadlines } from './deadlines.ts'
import { emitEndOfEmptyBody } from './empty-bodies.ts'
import { type ServerErrorCode, serverErrors } from './errors.ts'
import { isHeld, queueRequests } from './request-queue.ts'
import { securityHeaders } from './security-headers.ts'

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

const lingerMsMax = 5000
const discardedBytesMax = 256 * 1024 * 1024

interface LingeringClose {
  /** From now on the connection is closed in this way, whenever Node or we close it behind an answer. */
  apply(socket: Socket): void
  close(): void
}

/**
 * Closes a connection behind its last answer as RFC 9112, 9.6 has it: our side first, then what the client still sends
 * is read and discarded for a while. A plain close would make the kernel answer those bytes with a reset, which may take
 * the answer with it.
 */
function createLingeringClose(): LingeringClose {
  const deadlines = createDeadlines<Socket>(lingerMsMax, socket => socket.destroy())

  function linger(socket: Socket): void {
    if (socket.destroyed) return
    socket.end()
    let left = discardedBytesMax
    // Without this listener of Node's, and with one of ours, nothing reaches its parser any more.
    socket.removeAllListeners('data').on('data', piece => {
      left -= piece.length
      if (left < 0) socket.destroy()
    })
    socket.resume()
    deadlines.add(socket)
    socket.once('close', () => deadlines.delete(socket))
  }

  return {
    apply(socket) {
      socket.destroySoon = () => linger(socket)
    },
    close: () => deadlines.close(),
  }
}

type MessageError = Extract<ServerErrorCode, 'BAD_REQUEST' | 'NOT_IMPLEMENTED'>

/** Undefined for a valid one. */
function messageErrorOf({ headers, rawHeaders, httpVersionMinor }: IncomingMessage): MessageError | undefined {
  const coding = headers['transfer-encoding']
  if (coding !== undefined) {
    // HTTP/1.0 has no transfer codings: where such a body ends nobody can tell.
    if (httpVersionMinor === 0) return 'BAD_REQUEST'
    // Node undoes the chunks and nothing else.
    if (coding.trim().toLowerCase() !== 'chunked') return 'NOT_IMPLEMENTED'
  }
  const hosts = countHosts(rawHeaders)
  return hosts > 1 || (hosts === 0 && httpVersionMinor > 0) ? 'BAD_REQUEST' : undefined
}

/** Before anything of a body is read: the connection closes behind the answer. */
function refuseMessage(response: ServerResponse, code: MessageError): void {
  const { status, text } = serverErrors[code]
  const body = JSON.stringify({ status: text })
  const headers = {
    ...securityHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
  }
  response.writeHead(status, { ...headers, connection: 'close' }).end(body)
}

/** Node keeps the first of two and drops the other, and a proxy in front of us may have looked at that one. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}

/** By the code of the parser; all others are BAD_REQUEST. */
const codes: Partial<Record<string, ServerErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'TIMEOUT',
}

/** Node keeps here, under no public name, the oldest request of the connection that has no answer yet. */
type HttpSocket = Socket & { _httpMessage?: ServerResponse<IncomingMessage> | null }

/** What is said to bytes that are no request: the same shape as every other error, or nothing where it could mislead. */
function answerBrokenRequest({ code = '' }: NodeJS.ErrnoException, socket: HttpSocket): void {
  // What has come of the next request waits for our own answers, not for the client.
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && isHeld(socket)) return
  // Bytes behind a request that said it was the last one are nobody's (RFC 9112, 9.6); that one gets its answer.
  if (code === 'HPE_CLOSED_CONNECTION') return
  if (code === 'ECONNRESET' || !socket.writable || isAmbiguous(socket)) {
    socket.destroy()
    return
  }
  const { status, text } = serverErrors[codes[code] ?? 'BAD_REQUEST']
  const body = JSON.stringify({ status: text })
  const headers = {
    ...securityHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
  socket.destroySoon()
}

/**
 * A whole request waits for its answer, and the next thing sent would be taken for that: a reading that is about to be
 * stored must not be told 400. A connection that breaks means that nothing is known, which is true.
 */
function isAmbiguous({ _httpMessage: waiting }: HttpSocket): boolean {
  return waiting !== undefined && waiting !== null && (waiting.headersSent || waiting.req.complete)
}
