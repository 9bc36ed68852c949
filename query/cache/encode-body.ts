/** Encodes a body in the worker, so that main only forwards it: compresses it and takes its hash. */

import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { QueryFailed } from '../query-failed.ts'

/** A shorter body is sent uncompressed: compression would save less than its headers cost. */
const gzipBytesMin = 1024
/** For 16 MB of points, level 4 leaves 2.6 MB in 95 ms and level 6 2.5 MB in 240 ms. */
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
