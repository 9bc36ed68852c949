/** Sends a finished body in the client's preferred form, or 304. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptedForms, type Coding, type Form } from './accept-encoding.ts'
import { matchesWeakly } from './entity-tags.ts'

const jsonType = 'application/json; charset=utf-8'
const plainOnly: readonly Form[] = ['identity']

export interface SendableBody {
  readonly bytes: Buffer
  /** Media type; JSON by default. */
  readonly type?: string
  /** Ready compressed forms; empty for short bodies. */
  readonly coded: { readonly size: number }
  /** The tag of each form. */
  readonly etags: Readonly<Record<Form, string>>
}

/** The compressed body, or undefined if too many compressions are in progress. */
export type Encode<Body> = (body: Body, coding: Coding) => Buffer | Promise<Buffer> | undefined

/** The reply is sent when this function returns or its promise resolves. */
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
  // A body without gzip is too short for any coding.
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

/** Sends bytes with their length, so that HTTP/1.0 and clients without chunked decoding are served, too. */
function sendForm(reply: FastifyReply, body: SendableBody, form: Form, bytes: Buffer): FastifyReply {
  reply.header('content-type', body.type ?? jsonType)
  reply.header('etag', body.etags[form])
  if (form !== 'identity') reply.header('content-encoding', form)
  return reply.send(bytes)
}
