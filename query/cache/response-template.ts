/**
 * A response template: a body with a dynamic part that is written when it is served. A worker hands over the parts
 * before and after it, already compressed, so that the main thread only joins the pieces, once a second.
 */

import { constants, crc32, deflateRawSync } from 'node:zlib'
import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import { type Body, type DynamicBody, gzipLevel, hashOf } from './body.ts'

type Bytes = Uint8Array<ArrayBuffer>

interface Pieces {
  readonly head: Bytes
  readonly tail: Bytes
  /** Both as raw deflate. The head ends at a byte and is not the last of its stream. */
  readonly headDeflated: Bytes
  readonly tailDeflated: Bytes
}

export interface ResponseTemplate<Live> extends Pieces {
  /** Hash of head and tail. */
  readonly hash: string
  readonly live: Live
}

/** The text of the dynamic part, and a tag that changes whenever a client would see a change. */
export interface DynamicPart {
  readonly text: string
  readonly tag: string
}

/** Estimated size of the dynamic part in all forms. */
const dynamicBytes = 32 * 1024

const notTheLast = { level: gzipLevel, finishFlush: constants.Z_SYNC_FLUSH }

export function templateOf<Live>(headText: string, tailText: string, live: Live): ResponseTemplate<Live> {
  const [head, tail] = [bytesOf(headText), bytesOf(tailText)]
  const headDeflated = new Uint8Array(deflateRawSync(head, notTheLast))
  const tailDeflated = new Uint8Array(deflateRawSync(tail, { level: gzipLevel }))
  return { head, tail, headDeflated, tailDeflated, hash: hashOf(head, tail), live }
}

/** `write` is called at most once a second. The template's own memory is freed with the first body. */
export function dynamicBodyOf<Live>(
  template: ResponseTemplate<Live>,
  write: (live: Live, nowMs: number) => DynamicPart,
): DynamicBody {
  const { live, hash, ...received } = template
  const { head, tail, headDeflated, tailDeflated } = received
  // The whole body, and its brotli, gzip and zstd forms.
  const bytesMax = head.length + tail.length + 3 * (headDeflated.length + tailDeflated.length) + dynamicBytes
  let pieces: Pieces = received
  let last: { readonly second: number; readonly body: Body } | undefined

  function at(nowMs: number): Body {
    const second = Math.floor(nowMs / 1000)
    if (last?.second === second) return last.body
    const { text, tag } = write(live, second * 1000)
    const { bytes, gzip, within } = join(pieces, bytesOf(text))
    if (pieces === received) detachBuffers(Object.values(received))
    pieces = within
    // Weak: bodies with the same tag differ only in an age that goes on counting.
    const etag = `W/"${hash}-${tag}"`
    const etags = { identity: etag, gzip: etag, br: etag, zstd: etag }
    last = { second, body: { bytes, coded: new Map([['gzip', gzip]]), etags } }
    return last.body
  }

  return { at, bytesMax }
}

/** Both forms of the whole, and the pieces as views of them, so that they need no memory of their own. */
function join({ head, tail, headDeflated, tailDeflated }: Pieces, middle: Bytes) {
  const bytes = Buffer.concat([head, middle, tail])
  const gzip = gzipOf(bytes, [headDeflated, deflateRawSync(middle, notTheLast), tailDeflated])
  const deflatedEnd = gzip.length - gzipTrailerBytes
  const within: Pieces = {
    head: bytes.subarray(0, head.length),
    tail: bytes.subarray(bytes.length - tail.length),
    headDeflated: gzip.subarray(gzipHeader.length, gzipHeader.length + headDeflated.length),
    tailDeflated: gzip.subarray(deflatedEnd - tailDeflated.length, deflatedEnd),
  }
  return { bytes, gzip, within }
}

/** RFC 1952: no name, no time, made on Unix. */
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
const gzipTrailerBytes = 8

/** One member, because browsers read no second one. Its stream is the pieces one after the other. */
function gzipOf(bytes: Buffer, deflated: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  const trailer = Buffer.alloc(gzipTrailerBytes)
  trailer.writeUInt32LE(crc32(bytes), 0)
  trailer.writeUInt32LE(bytes.length, 4)
  return Buffer.concat([gzipHeader, ...deflated, trailer])
}

function bytesOf(text: string): Bytes {
  return new TextEncoder().encode(text)
}
