/** Creates Node's HTTP server with limits on times, on connections, and on requests in progress of a connection. */

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
import { type ServerErrorCode, serverErrors } from './errors.ts'
import { isHeld, queueRequests } from './request-queue.ts'
import { securityHeaders } from './response-headers.ts'

export interface HttpServerOptions {
  tls: Certificate | undefined
  connections: Connections
}

/**
 * Node checks the time limits at intervals, and swaps the two if the first is larger, so all three are set. Streamed
 * imports need a long limit for a request; JSON bodies have their own.
 */
const options: ServerOptions = {
  headersTimeout: 5_000,
  requestTimeout: 30 * 60_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 64 * 1024,
  // Node's own refusal has an empty chunked body.
  requireHostHeader: false,
  optimizeEmptyRequests: true,
}
const keepAliveMs = 72_000
/** A client that neither reads nor writes holds memory for an answer. */
const silenceMsMax = 120_000
/** Time limit for the rest of an unread body. */
const unreadBodyMsMax = 5_000

export interface HttpServers {
  /** Creates a server that passes its requests to `handle`, one for each address of `localhost`. */
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
      // Some firmware closes its sending side right after the request and still reads the answer.
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
  /** All later closes of the connection are lingering. */
  apply(socket: Socket): void
  close(): void
}

/**
 * Closes a connection after its last answer according to RFC 9112, 9.6: the sending side first, while the client's
 * further bytes are discarded for a while. After a plain close, the kernel would answer those bytes with a reset, which
 * may discard the answer.
 */
function createLingeringClose(): LingeringClose {
  const deadlines = createDeadlines<Socket>(lingerMsMax, socket => socket.destroy())

  function linger(socket: Socket): void {
    if (socket.destroyed) return
    socket.end()
    let left = discardedBytesMax
    // Replacing Node's listener keeps the bytes from its parser.
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

function messageErrorOf({ headers, rawHeaders, httpVersionMinor }: IncomingMessage): MessageError | undefined {
  const coding = headers['transfer-encoding']
  if (coding !== undefined) {
    // HTTP/1.0 has no transfer codings, so the end of such a body is unknown.
    if (httpVersionMinor === 0) return 'BAD_REQUEST'
    // Node decodes only chunks.
    if (coding.trim().toLowerCase() !== 'chunked') return 'NOT_IMPLEMENTED'
  }
  const hosts = countHosts(rawHeaders)
  return hosts > 1 || (hosts === 0 && httpVersionMinor > 0) ? 'BAD_REQUEST' : undefined
}

/** Answers before the body is read. The connection closes after the answer. */
function refuseMessage(response: ServerResponse, code: MessageError): void {
  const { status, headers, body } = refusalOf(code)
  response.writeHead(status, headers).end(body)
}

function refusalOf(code: ServerErrorCode) {
  const { status, text } = serverErrors[code]
  const body = JSON.stringify({ status: text })
  const headers = {
    ...securityHeaders,
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
    connection: 'close',
  }
  return { status, headers, body }
}

/** Node drops all but the first, while a proxy may have read another. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}

/** Maps codes of the parser. Others are BAD_REQUEST. */
const codes: Partial<Record<string, ServerErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'TIMEOUT',
}

/** Node's private property with the oldest unanswered request of the connection. */
type HttpSocket = Socket & { _httpMessage?: ServerResponse<IncomingMessage> | null }

/** Answers bytes that are not a request, in the shape of other errors, unless the answer would be ambiguous. */
function answerBrokenRequest({ code = '' }: NodeJS.ErrnoException, socket: HttpSocket): void {
  // The rest of the next request waits for the service's own answers, not for the client.
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && isHeld(socket)) return
  // Bytes after a request with `connection: close` are ignored (RFC 9112, 9.6). That request gets its answer.
  if (code === 'HPE_CLOSED_CONNECTION') return
  if (code === 'ECONNRESET' || !socket.writable || isAmbiguous(socket)) {
    socket.destroy()
    return
  }
  const { status, headers, body } = refusalOf(codes[code] ?? 'BAD_REQUEST')
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
  socket.destroySoon()
}

/**
 * A complete request is waiting, and the client would take the next bytes for its answer: a reading about to be stored
 * must not get 400. A closed connection reports an unknown outcome.
 */
function isAmbiguous({ _httpMessage: waiting }: HttpSocket): boolean {
  return waiting !== undefined && waiting !== null && (waiting.headersSent || waiting.req.complete)
}

/** No reader awaits a body of these methods. */
const withoutReader: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD'])

/**
 * Emits `end` to listeners of a missing body. Call it before anything is read. With `optimizeEmptyRequests` Node ends
 * the streams of requests without a body without events, which saves some 3 µs of 25.
 */
function emitEndOfEmptyBody(request: IncomingMessage): void {
  if (!request.readableEnded || withoutReader.has(request.method)) return
  // Node marks it as destroyed, like an interrupted body.
  request.destroyed = false
  request.on('newListener', (event, listener) => {
    if (event === 'end') process.nextTick(() => listener.call(request))
  })
}
