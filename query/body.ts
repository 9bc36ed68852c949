/** A finished answer in memory: its bytes, its compressed forms and its tags. */

import type { Finished } from './finish.ts'

/** The compressed forms that an answer may go out in. */
export type Coding = 'gzip' | 'br' | 'zstd'

export interface Body {
  readonly bytes: Buffer
  /** Compressed forms that are ready or being made; gzip comes with the body unless that is too short to gain by it. */
  readonly coded: Map<Coding, Buffer | Promise<Buffer>>
  /** A strong tag for each form, for their bytes differ. */
  readonly etags: Readonly<Record<Coding | 'identity', string>>
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

/** What is kept under a key: a body, or that there is none because it would be too large. */
export interface Kept {
  readonly body: Body | 'TOO_LARGE'
  readonly askedAtMs: number
  /** The device's revision that the body was read at, where it depends on one. */
  readonly revision: number
  /** Set when building the next one failed: it is not tried before this. */
  readonly retryAtMs?: number
}

export function answerOf({ body }: Kept, maxAgeSeconds: number): Answer {
  return body === 'TOO_LARGE' ? { ok: false, code: 'TOO_LARGE' } : { ok: true, body, maxAgeSeconds }
}

export function bodyOf({ bytes, gzip, hash }: Finished): Body {
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
