/** Reads bodies of requests: JSON, and raw bytes. */

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { MIMEType } from 'node:util'
import type { FastifyRequest } from 'fastify'
import { BodyError, createBodyDeadlines, hasBody } from '../../http/request-body.ts'
import type { Scope } from '../../http/route-family.ts'
import { errorAt, missing, notAnObject, type ValidationError, withoutSecrets } from './validation.ts'

type ParsedBody =
  | { kind: 'object'; value: object }
  | { kind: 'bad-text' }
  /** The text is not JSON. The error is reported before the credential is checked. */
  | { kind: 'bad-json'; error: ValidationError }
  /** Valid JSON, or another media type, without an object. */
  | { kind: 'no-object'; error: ValidationError }

const badJson = { type: 'json_invalid', msg: 'JSON decode error', ctx: { error: 'Expecting value' } }

export function parseBody(bytes: Buffer | undefined, contentType: string | undefined): ParsedBody {
  if (bytes === undefined || bytes.length === 0) return { kind: 'no-object', error: errorAt(['body'], missing, null) }
  // A form or a text may hold a password.
  if (!isJson(contentType)) return { kind: 'no-object', error: errorAt(['body'], notAnObject, null) }
  if (!isUtf8(bytes)) return { kind: 'bad-text' }
  const text = bytes.toString('utf8').replace(/^\ufeff/, '')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's own message quotes the body.
    return { kind: 'bad-json', error: errorAt(['body', 0], badJson, {}) }
  }
  if (value === null) return { kind: 'no-object', error: errorAt(['body'], missing, null) }
  if (typeof value === 'object' && !Array.isArray(value)) return { kind: 'object', value }
  // JSON that was encoded twice is a text with passwords in it.
  const input = typeof value === 'string' && /["{}]/.test(value) ? null : withoutSecrets(value)
  return { kind: 'no-object', error: errorAt(['body'], notAnObject, input) }
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return false
  try {
    const { type, subtype } = new MIMEType(contentType)
    return type === 'application' && (subtype === 'json' || subtype.endsWith('+json'))
  } catch {
    return false
  }
}

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
