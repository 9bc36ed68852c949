/** Takes bodies as bytes with any media type. The content is checked later, with the errors of this family. */

import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { BodyError, createBodyDeadlines, hasBody } from '../../http/request-body.ts'
import type { Scope } from '../../http/route-family.ts'

const bodyBytesMax = 64 * 1024

const contentTypes = new WeakMap<IncomingMessage, string>()

export function contentTypeOf({ raw }: FastifyRequest): string | undefined {
  return contentTypes.get(raw)
}

export function addRawBody(scope: Scope): void {
  scope.removeAllContentTypeParsers()
  const deadlines = createBodyDeadlines(scope)
  scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: bodyBytesMax }, (request, body, done) => {
    deadlines.finish(request.raw)
    done(null, body)
  })
  scope.addHook('preParsing', ({ headers, raw }, _reply, _payload, done) => {
    // The framework refuses unknown media types, which this family accepts.
    const type = headers['content-type']
    if (type !== undefined) {
      contentTypes.set(raw, type)
      delete raw.headers['content-type']
    }
    const coding = headers['content-encoding']
    if (hasBody(raw) && coding !== undefined && coding.toLowerCase() !== 'identity') {
      // TOO_LARGE takes precedence.
      const isTooLarge = Number(headers['content-length'] ?? 0) > bodyBytesMax
      done(new BodyError(isTooLarge ? 413 : 415, 'the body has a content coding'))
      return
    }
    if (hasBody(raw)) deadlines.start(raw)
    done()
  })
}
