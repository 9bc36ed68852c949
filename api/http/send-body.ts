/** Sends a finished body in the client's preferred form, or 304. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import Negotiator from 'negotiator'

const jsonType = 'application/json; charset=utf-8'
/** A client that accepts other forms only gets the uncompressed one, as RFC 9110 advises. */
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
  const etag = body.etags[forms[0] ?? 'identity']
  if (isKnownTo(request, etag)) return reply.code(304).header('etag', etag).send()
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

export type Coding = 'gzip' | 'br' | 'zstd'
export type Form = Coding | 'identity'

/** At equal preference the first form is sent: gzip is always ready. */
const forms: readonly Form[] = ['gzip', 'br', 'zstd', 'identity']
/** Clients send a handful of different headers. A longer one is not cached. */
const headersMax = 100
const headerLengthMax = 200
const remembered = new LRUCache<string, readonly Form[]>({ max: headersMax })

/** The forms that a client accepts by its Accept-Encoding, best first. */
export function acceptedForms(header: string | undefined): readonly Form[] {
  if (header === undefined) return plainOnly
  const known = remembered.get(header)
  if (known !== undefined) return known
  const accepted = readHeader(header)
  if (header.length <= headerLengthMax) remembered.set(header, accepted)
  return accepted
}

/** The method takes this argument since version 1.0 of the library, but its types lack it. */
interface WithPreference {
  encodings(available: readonly Form[], options: { preferred: readonly Form[] }): Form[]
}

function readHeader(header: string): readonly Form[] {
  const negotiator: unknown = new Negotiator({ headers: { 'accept-encoding': header } })
  const accepted = (negotiator as WithPreference).encodings(forms, { preferred: forms })
  return accepted.length === 0 ? plainOnly : accepted
}

/** True when the client has the content: it sent its tag in If-None-Match. */
export function isKnownTo({ headers }: FastifyRequest, etag: string): boolean {
  const known = headers['if-none-match']
  return known !== undefined && matchesWeakly(etag, known)
}

/**
 * Compares tags (RFC 9110, 8.8.3.2) for If-None-Match: some are weak, and a proxy that recompresses weakens others. The
 * service's tags have no comma.
 */
function matchesWeakly(etag: string, header: string): boolean {
  const opaque = opaqueOf(etag)
  return isAmong(header, tag => opaqueOf(tag) === opaque)
}

/** If-Match takes strong tags alone. */
export function matchesStrongly(etag: string, header: string): boolean {
  return isAmong(header, tag => tag === etag)
}

function isAmong(header: string, isSame: (tag: string) => boolean): boolean {
  return header.trim() === '*' || header.split(',').some(tag => isSame(tag.trim()))
}

function opaqueOf(tag: string): string {
  return tag.replace(/^W\//, '')
}
