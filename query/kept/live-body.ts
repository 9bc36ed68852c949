/**
 * A body with a gap, which is filled at the moment it is given out: a worker hands over what stands before and after
 * it, compressed already, so that main only has to put the pieces together, once a second.
 */

import { constants, crc32, deflateRawSync } from 'node:zlib'
import { release } from '../../analytics/release.ts'
import type { Body, LiveBody } from './body.ts'
import { gzipLevel, hashOf } from './finish.ts'

type Bytes = Uint8Array<ArrayBuffer>

interface Pieces {
  readonly head: Bytes
  readonly tail: Bytes
  /** Both as raw deflate; the head ends at a byte and is not the last of its stream. */
  readonly headDeflated: Bytes
  readonly tailDeflated: Bytes
}

/** What crosses from the worker. */
export interface Frame<Live> extends Pieces {
  /** Of head and tail. */
  readonly hash: string
  /** What the text in the gap is made of. */
  readonly live: Live
}

/** What belongs into the gap, and a word that changes with what a client would call a change. */
export interface Filling {
  readonly text: string
  readonly tag: string
}

/** What the text in the gap takes beside the rest, in all forms; a round figure. */
const fillingBytes = 32 * 1024

const notTheLast = { level: gzipLevel, finishFlush: constants.Z_SYNC_FLUSH }

export function frameOf<Live>(headText: string, tailText: string, live: Live): Frame<Live> {
  const [head, tail] = [bytesOf(headText), bytesOf(tailText)]
  const headDeflated = new Uint8Array(deflateRawSync(head, notTheLast))
  const tailDeflated = new Uint8Array(deflateRawSync(tail, { level: gzipLevel }))
  return { head, tail, headDeflated, tailDeflated, hash: hashOf(head, tail), live }
}

/** `fill` is asked at most once a second. The frame's own memory is given back with the first body. */
export function liveBodyOf<Live>(frame: Frame<Live>, fill: (live: Live, nowMs: number) => Filling): LiveBody {
  const { live, hash, ...framed } = frame
  const { head, tail, headDeflated, tailDeflated } = framed
  // The whole; beside gzip, brotli and zstd of the whole.
  const bytesMax = head.length + tail.length + 3 * (headDeflated.length + tailDeflated.length) + fillingBytes
  let pieces: Pieces = framed
  let last: { readonly second: number; readonly body: Body } | undefined

  function at(nowMs: number): Body {
    const second = Math.floor(nowMs / 1000)
    if (last?.second === second) return last.body
    const { text, tag } = fill(live, second * 1000)
    const { bytes, gzip, within } = putTogether(pieces, bytesOf(text))
    if (pieces === framed) release(Object.values(framed))
    pieces = within
    // Weak: bodies of the same tag say the same, up to an age that goes on counting.
    const etag = `W/"${hash}-${tag}"`
    const etags = { identity: etag, gzip: etag, br: etag, zstd: etag }
    last = { second, body: { bytes, coded: new Map([['gzip', gzip]]), etags } }
    return last.body
  }

  return { at, bytesMax }
}

/** Both forms of the whole, and the pieces as they lie `within` these, so that nobody has to keep them beside. */
function putTogether({ head, tail, headDeflated, tailDeflated }: Pieces, middle: Bytes) {
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

/** One member, for browsers read no second one; its stream is the pieces one after the other. */
function gzipOf(bytes: Buffer, deflated: readonly Uint8Array[]): Buffer<ArrayBuffer> {
  const trailer = Buffer.alloc(gzipTrailerBytes)
  trailer.writeUInt32LE(crc32(bytes), 0)
  trailer.writeUInt32LE(bytes.length, 4)
  return Buffer.concat([gzipHeader, ...deflated, trailer])
}

function bytesOf(text: string): Bytes {
  return new TextEncoder().encode(text)
}
