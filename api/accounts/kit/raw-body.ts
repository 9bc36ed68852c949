/** Bodies as bytes, whatever their media type says: what they hold is judged later, in the words of this family. */

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createDeadlines } from '../../http/deadlines.ts'

const bodyBytesMax = 64 * 1024
/** How long a body may take. */
const bodyMsMax = 5_000

class BodyError extends Error {
  readonly statusCode: number

  constructor(statusCode: number, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}

const contentTypes = new WeakMap<IncomingMessage, string>()

/** The media type that a request names. */
export function contentTypeOf({ raw }: FastifyRequest): string | undefined {
  return contentTypes.get(raw)
}

export function addRawBody(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  const arriving = createDeadlines<IncomingMessage>(bodyMsMax, giveUp)
  scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: bodyBytesMax }, (request, body, done) => {
    arriving.delete(request.raw)
    done(null, body)
  })
  scope.addHook('preParsing', ({ headers, raw }, _reply, _payload, done) => {
    // The framework refuses types that it cannot read; here a type is no reason to refuse anything.
    const type = headers['content-type']
    if (type !== undefined) {
      contentTypes.set(raw, type)
      delete raw.headers['content-type']
    }
    const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
    const coding = headers['content-encoding']
    if (hasBody && coding !== undefined && coding.toLowerCase() !== 'identity') {
      // Too large is told first.
      const isTooLarge = Number(headers['content-length'] ?? 0) > bodyBytesMax
      done(new BodyError(isTooLarge ? 413 : 415, 'the body has a content coding'))
      return
    }
    if (hasBody) arriving.add(raw)
    done()
  })
  scope.addHook('onClose', (_scope, done) => {
    arriving.close()
    done()
  })
}

function giveUp(request: IncomingMessage): void {
  // After a whole one the connection may be at another request by now.
  if (request.complete) return
  // Whoever reads it stops then, and answers; without a reader the answer was sent long ago.
  if (request.listenerCount('error') > 0) request.emit('error', new BodyError(408, 'the body did not come in time'))
  else request.destroy()
}
