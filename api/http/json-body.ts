/** Parses JSON bodies strictly: uncompressed, and within a few seconds. */

import { MIMEType } from 'node:util'
import { parseJson } from '../../store/strict-json.ts'
import { BodyError, createBodyDeadlines, hasBody } from './body-deadlines.ts'
import type { Scope } from './scope.ts'

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
