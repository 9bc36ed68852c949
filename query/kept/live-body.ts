/**
 * A body with a gap, which is filled at the moment it is given out: a worker hands over what stands before and after
 * it, compressed already, so that main only has to put the pieces together, once a second.
 */

import { constants, crc32, deflateRawSync } from 'node:zlib'
import type { Body, LiveBody } from './body.ts'
import { gzipLevel, hashOf } from './finish.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** What crosses from the worker. */
export interface Frame<Live> {
  readonly head: Bytes
  readonly tail: Bytes
  /** Both as raw deflate; the head ends at a byte and is not the last of its stream. */
  readonly headDeflated: Bytes
  readonly tailDeflated: Bytes
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

/** `fill` is asked at most once a second. */
export function liveBodyOf<Live>(frame: Frame<Live>, fill: (live: Live, nowMs: number) => Filling): LiveBody {
  const { head, tail, headDeflated, tailDeflated } = frame
  let last: { readonly second: number; readonly body: Body } | undefined

  function at(nowMs: number): Body {
    const second = Math.floor(nowMs / 1000)
    if (last?.second !== second) last = { second, body: bodyAt(frame, fill(frame.live, second * 1000)) }
    return last.body
  }

  const deflatedBytes = headDeflated.length + tailDeflated.length
  // The pieces and the whole; beside gzip, brotli and zstd of the whole.
  return { at, bytesMax: 2 * (head.length + tail.length) + 4 * deflatedBytes + fillingBytes }
}

function bodyAt({ head, tail, headDeflated, tailDeflated, hash }: Frame<unknown>, { text, tag }: Filling): Body {
  const middle = bytesOf(text)
  const bytes = Buffer.concat([head, middle, tail])
  const gzip = gzipOf(bytes, [headDeflated, deflateRawSync(middle, notTheLast), tailDeflated])
  // Weak: bodies of the same tag say the same, up to an age that goes on counting.
  const etag = `W/"${hash}-${tag}"`
  return { bytes, coded: new Map([['gzip', gzip]]), etags: { identity: etag, gzip: etag, br: etag, zstd: etag } }
}

/** RFC 1952: no name, no time, made on Unix. */
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])

/** One member, for browsers read no second one; its stream is the pieces one after the other. */
function gzipOf(bytes: Buffer, deflated: readonly Uint8Array[]): Buffer {
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc32(bytes), 0)
  trailer.writeUInt32LE(bytes.length, 4)
  return Buffer.concat([gzipHeader, ...deflated, trailer])
}

function bytesOf(text: string): Bytes {
  return new TextEncoder().encode(text)
}
