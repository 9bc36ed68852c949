/**
 * JSON bodies, strictly: UTF-8 without faults (a lenient decoder would store U+FFFD for what somebody sent), nothing
 * compressed, and a body that dribbles in is given up after a few seconds.
 */

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { MIMEType } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { createDeadlines } from './deadlines.ts'

class BodyError extends Error {
  readonly statusCode: number
  constructor(statusCode: number, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}

/** How long a body may take. Streamed imports are no JSON bodies and have no such limit. */
const bodyMsMax = 5000

/** Replaces the JSON parser of this scope, and drops the one for plain text. */
export function addJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    arriving.delete(request.raw)
    try {
      done(null, parseJson(body as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })

  // One that was refused or left stands here until its time is over.
  const arriving = createDeadlines<IncomingMessage>(bodyMsMax, giveUp)
  app.addHook('preParsing', ({ headers, raw }, _reply, _payload, done) => {
    const coding = headers['content-encoding']
    if (coding !== undefined && coding.toLowerCase() !== 'identity') {
      done(new BodyError(415, 'unsupported content encoding'))
      return
    }
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    if (hasBody && !isUtf8Type(headers['content-type'])) {
      done(new BodyError(415, 'unsupported charset'))
      return
    }
    if (hasBody) arriving.add(raw)
    done()
  })
  app.addHook('onClose', (_app, done) => {
    arriving.close()
    done()
  })
}

function giveUp(request: IncomingMessage): void {
  // After a whole one the connection may be at another request by now.
  if (request.complete) return
  // Whoever reads it stops then, and answers; without a reader the answer was sent long ago.
  if (request.listenerCount('error') > 0) request.emit('error', new BodyError(408, 'timeout'))
  else request.destroy()
}

const utf8Charsets = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii'])

/** JSON is UTF-8 (RFC 8259, 8.1), so a charset may say nothing else. What is no media type at all is refused elsewhere. */
function isUtf8Type(contentType: string | undefined): boolean {
  if (contentType === undefined || !contentType.includes(';')) return true
  try {
    const charset = new MIMEType(contentType).params.get('charset')
    return charset === null || utf8Charsets.has(charset.toLowerCase())
  } catch {
    return true
  }
}

const byteOrderMark = Buffer.from('\ufeff')

function parseJson(body: Buffer): unknown {
  // Many clients name JSON as the type of every request, also of one that has no body.
  if (body.length === 0) return undefined
  if (!isUtf8(body)) throw new BodyError(400, 'invalid json')
  // Some editors and libraries put one in front; RFC 8259 lets a parser ignore it.
  const start = body.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0
  try {
    return JSON.parse(body.toString('utf8', start))
  } catch {
    throw new BodyError(400, 'invalid json')
  }
}
