/** A finished answer in memory: its bytes, its compressed forms and its tags. A worker encodes it. */

import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { QueryFailed } from '../query-failed.ts'

export type Coding = 'gzip' | 'br' | 'zstd'

export interface Body {
  readonly bytes: Buffer
  /**
   * Compressed forms that are ready or being made. A worker sends gzip with the body, unless the body is too short to
   * gain by it.
   */
  readonly coded: Map<Coding, Buffer | Promise<Buffer>>
  /** A strong tag for each form, for their bytes differ; or one weak tag for all. */
  readonly etags: Readonly<Record<Coding | 'identity', string>>
}

/** A body with a part that is written when it is served. */
export interface DynamicBody {
  /** The whole body as of this moment; requests of the same second share it. */
  at(nowMs: number): Body
  /** The most memory that it may take, including all its compressed forms. */
  readonly bytesMax: number
}

export type AnswerCode =
  | 'DATABASE_AWAY'
  | 'TIMED_OUT'
  | 'QUEUE_FULL'
  | 'TOO_LARGE'
  | 'DATE_INVALID'
  | 'CANCELLED'
  | 'CLOSING'

/** `maxAgeSeconds` is how long a client may go on using the body without asking again. */
export type Answer =
  | { readonly ok: true; readonly body: Body; readonly maxAgeSeconds: number }
  | { readonly ok: false; readonly code: AnswerCode }

/** The cached result of a key: a body, or the fact that it would be too large. */
export interface CacheEntry {
  readonly body: Body | DynamicBody | 'TOO_LARGE'
  readonly askedAtMs: number
  /** The inputs of the body when it was built; undefined where they are too many to list. */
  readonly version: string | undefined
  /** Set when building the next one failed. The next attempt waits until then. */
  readonly retryAtMs?: number
}

export function answerOf({ body }: Pick<CacheEntry, 'body'>, maxAgeSeconds: number, nowMs: number): Answer {
  if (body === 'TOO_LARGE') return { ok: false, code: 'TOO_LARGE' }
  return { ok: true, body: 'at' in body ? body.at(nowMs) : body, maxAgeSeconds }
}

export function bodyOf({ bytes, gzip, hash }: EncodedBody): Body {
  const coded = new Map<Coding, Buffer | Promise<Buffer>>()
  if (gzip !== undefined) coded.set('gzip', bufferOf(gzip))
  const etags = {
    identity: `"${hash}"`,
    gzip: `"${hash}-gzip"`,
    br: `"${hash}-br"`,
    zstd: `"${hash}-zstd"`,
  }
  return { bytes: bufferOf(bytes), coded, etags }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** A shorter body is sent uncompressed: compression would save less than its headers cost. */
const gzipBytesMin = 1024
/** Level 4 compresses 16 MB of points to 2.6 MB in 95 ms, and level 6 to 2.5 MB in 240 ms. */
export const gzipLevel = 4

export interface EncodedBody {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly gzip: Uint8Array<ArrayBuffer> | undefined
  /** Hash of the uncompressed bytes. */
  readonly hash: string
}

export function encodeBody(bytes: Uint8Array<ArrayBuffer>): EncodedBody {
  const gzip = bytes.length < gzipBytesMin ? undefined : new Uint8Array(gzipSync(bytes, { level: gzipLevel }))
  return { bytes, gzip, hash: hashOf(bytes) }
}

/** The same for an answer that is one text. */
export function encodeText(text: string, bytesMax: number): EncodedBody {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length >= bytesMax) throw new QueryFailed('TOO_LARGE', `answer exceeds the limit of ${bytesMax} bytes`)
  return encodeBody(bytes)
}

/** Contains only characters that an entity tag may have. */
export function hashOf(...parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64url').slice(0, 22)
}
