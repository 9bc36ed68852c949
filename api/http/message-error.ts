/** What is wrong with a request as a message of HTTP, whatever it asks for (RFC 9112, 3.2 and 6.1). */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ServerErrorCode, serverErrors } from './errors.ts'
import { securityHeaders } from './security-headers.ts'

type MessageError = Extract<ServerErrorCode, 'BAD_REQUEST' | 'NOT_IMPLEMENTED'>

/** Undefined for a valid one. */
export function messageErrorOf({ headers, rawHeaders, httpVersionMinor }: IncomingMessage): MessageError | undefined {
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
export function refuseMessage(response: ServerResponse, code: MessageError): void {
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
