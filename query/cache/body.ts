/** A finished answer in memory: its bytes, its compressed forms and its tags. */

import type { EncodedBody } from './encode-body.ts'

/** The compressed forms that an answer may go out in. */
export type Coding = 'gzip' | 'br' | 'zstd'

export interface Body {
  readonly bytes: Buffer
  /** Compressed forms that are ready or being made; gzip comes with the body unless that is too short to gain by it. */
  readonly coded: Map<Coding, Buffer | Promise<Buffer>>
  /** A strong tag for each form, for their bytes differ; or one weak tag for all. */
  readonly etags: Readonly<Record<Coding | 'identity', string>>
}

/** A body of which a part is written at the moment it is served. */
export interface DynamicBody {
  /** The whole of it as of this moment; the same one for all requests of one second. */
  at(nowMs: number): Body
  /** What it may take in memory, all its compressed forms counted. */
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

/** What is cached under a key: a body, or that there is none because it would be too large. */
export interface CacheEntry {
  readonly body: Body | DynamicBody | 'TOO_LARGE'
  readonly askedAtMs: number
  /** What the body depended on when it was built, as its query puts it; undefined: on too much to say. */
  readonly version: string | undefined
  /** Set when building the next one failed: it is not tried before this. */
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
