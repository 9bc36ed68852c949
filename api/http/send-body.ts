/** Sends a finished body in the form that the client likes best, or says that the client has it already. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptedForms, type Coding, type Form } from './accept-encoding.ts'
import { matchesWeakly } from './entity-tags.ts'

const jsonType = 'application/json; charset=utf-8'
const plainOnly: readonly Form[] = ['identity']

export interface SendableBody {
  readonly bytes: Buffer
  /** The media type; without it, that of JSON. */
  readonly type?: string
  /** Of the compressed forms that are ready; none where the body is too short to gain by them. */
  readonly coded: { readonly size: number }
  /** The tag of each form. */
  readonly etags: Readonly<Record<Form, string>>
}

/** The compressed body; undefined when too many compressions are in progress. */
export type Encode<Body> = (body: Body, coding: Coding) => Buffer | Promise<Buffer> | undefined

/** The reply is sent when this returns, or when its promise is kept. */
export function sendBody<Body extends SendableBody>(
  request: FastifyRequest,
  reply: FastifyReply,
  body: Body,
  maxAgeSeconds: number,
  encode: Encode<Body>,
): FastifyReply | Promise<FastifyReply> {
  const { headers } = request
  reply.header('vary', 'accept-encoding')
  reply.header('cache-control', maxAgeSeconds > 0 ? `public, max-age=${maxAgeSeconds}` : 'no-cache')
  // A body that came without gzip is too short to gain by any coding.
  const forms = body.coded.size === 0 ? plainOnly : acceptedForms(headers['accept-encoding'])
  const known = headers['if-none-match']
  if (known !== undefined) {
    const etag = body.etags[forms[0] ?? 'identity']
    if (known === etag || matchesWeakly(etag, known)) return reply.code(304).header('etag', etag).send()
  }
  for (const form of forms) {
    const bytes = form === 'identity' ? body.bytes : encode(body, form)
    if (bytes === undefined) continue
    if (bytes instanceof Promise) return bytes.then(made => sendForm(reply, body, form, made))
    return sendForm(reply, body, form, bytes)
  }
  return sendForm(reply, body, 'identity', body.bytes)
}

/** Bytes of a known length go out whole, so that clients of HTTP/1.0 and those that cannot read chunks are served too. */
function sendForm(reply: FastifyReply, body: SendableBody, form: Form, bytes: Buffer): FastifyReply {
  reply.header('content-type', body.type ?? jsonType)
  reply.header('etag', body.etags[form])
  if (form !== 'identity') reply.header('content-encoding', form)
  return reply.send(bytes)
}
