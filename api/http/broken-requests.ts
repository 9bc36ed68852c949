/** What is said to bytes that are no request: the same shape as every other error, or nothing where it could mislead. */

import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type ServerErrorCode, serverErrors } from './errors.ts'
import { isHeld } from './request-queue.ts'
import { securityHeaders } from './security-headers.ts'

/** By the code of the parser; all others are BAD_REQUEST. */
const codes: Partial<Record<string, ServerErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'TIMEOUT',
}

/** Node keeps here, under no public name, the oldest request of the connection that has no answer yet. */
type HttpSocket = Socket & { _httpMessage?: ServerResponse<IncomingMessage> | null }

export function answerBrokenRequest({ code = '' }: NodeJS.ErrnoException, socket: HttpSocket): void {
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
