/** Reads request bodies: strict JSON within a few seconds, or the bytes as they arrive. */

import type { IncomingMessage } from 'node:http'
import { finished, PassThrough } from 'node:stream'
import { MIMEType } from 'node:util'
import type { FastifyRequest } from 'fastify'
import { parseJson } from '../../store/strict-json.ts'
import { createDeadlines } from './deadlines.ts'
import type { Scope } from './route-family.ts'

export class BodyError extends Error {
  readonly statusCode: number

  constructor(statusCode: number, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}

/** Limit for JSON. Streamed imports have none. */
const jsonMsMax = 5_000

export interface BodyDeadlines {
  /** Called when the head of a request with a body has arrived. */
  start(request: IncomingMessage): void
  /** Called when the whole body has arrived. A refused body stays until its deadline. */
  finish(request: IncomingMessage): void
}

/** A body of this scope beyond its deadline is an error with the status 408. */
export function createBodyDeadlines(scope: Scope, bodyMsMax = jsonMsMax): BodyDeadlines {
  const deadlines = createDeadlines<IncomingMessage>(bodyMsMax, giveUp)
  scope.addHook('onClose', (_scope, done) => {
    deadlines.close()
    done()
  })
  return { start: deadlines.add, finish: deadlines.delete }
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

function giveUp(request: IncomingMessage): void {
  // The connection may be at another request by now.
  if (request.complete) return
  // The reader of the body stops at the error and answers. Without a reader the answer was sent before.
  if (request.listenerCount('error') > 0) request.emit('error', new BodyError(408, 'the body did not arrive in time'))
  else request.destroy()
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler gets the bytes of a JSON body. */
    hasRawBody?: boolean
  }
}

/** Replaces the JSON parser of this scope and removes the plain-text parser. */
export function addJsonBody(app: Scope): void {
  app.removeAllContentTypeParsers()
  const deadlines = createBodyDeadlines(app)
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    deadlines.finish(request.raw)
    if (request.routeOptions.config.hasRawBody === true) {
      done(null, body)
      return
    }
    try {
      done(null, parseJson(body as Buffer))
    } catch {
      done(invalidJson())
    }
  })

  app.addHook('preParsing', ({ headers, raw }, _reply, _payload, done) => {
    const coding = headers['content-encoding']
    if (coding !== undefined && coding.toLowerCase() !== 'identity') {
      done(new BodyError(415, 'unsupported content encoding'))
      return
    }
    if (hasBody(raw) && !isUtf8Type(headers['content-type'])) {
      done(new BodyError(415, 'unsupported charset'))
      return
    }
    if (hasBody(raw)) deadlines.start(raw)
    done()
  })
}

const utf8Charsets = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii'])

/** JSON is UTF-8 (RFC 8259, 8.1), so other charsets are refused. Invalid media types are refused elsewhere. */
function isUtf8Type(contentType: string | undefined): boolean {
  if (contentType === undefined || !contentType.includes(';')) return true
  try {
    const charset = new MIMEType(contentType).params.get('charset')
    return charset === null || utf8Charsets.has(charset.toLowerCase())
  } catch {
    return true
  }
}

export function invalidJson(): BodyError {
  return new BodyError(400, 'invalid json')
}

/** Sent as `Accept-Encoding` with the answer to an unknown coding (RFC 9110, 12.5.3). */
export const knownCodings = 'gzip, zstd'

/** Copies the sent bytes to a separate stream: dropping a pipeline would close the connection, too. */
export function bodyOf(request: IncomingMessage): PassThrough {
  const body = new PassThrough()
  const stopWatching = finished(request, { writable: false }, error => {
    if (error) body.destroy(error)
  })
  body.once('close', () => {
    stopWatching()
    request.unpipe(body)
    // Unread bytes are discarded, so that a client that sends all before it reads gets its answer.
    request.resume()
  })
  // The reader of the body handles errors. This listener keeps an error between two reads from being fatal.
  body.on('error', () => undefined)
  request.pipe(body)
  return body
}

/** The result has no parameters. */
export function mediaTypeOf(request: FastifyRequest): string {
  const [mediaType = ''] = (request.headers['content-type'] ?? '').split(';')
  return mediaType.trim().toLowerCase()
}
