/**
 * The bytes of a bulk body as they arrive: limits of size and idle time, content codings, and the faults of a whole
 * body.
 */

import { pipeline, Readable } from 'node:stream'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'
import { detachBuffers, ownsBuffer } from '../../store/limits/detach-buffers.ts'

export type BodyFaultCode =
  | 'BODY_BROKEN'
  | 'PAYLOAD_TOO_LARGE'
  | 'TIMEOUT'
  | 'JSON_INVALID'
  | 'CONTENT_UNKNOWN'
  | 'HEADER_INVALID'

export class BodyFault extends Error {
  readonly code: BodyFaultCode

  constructor(code: BodyFaultCode, reason: string) {
    super(reason)
    this.code = code
  }
}

export function tooLarge(bytesMax: number): BodyFault {
  return new BodyFault('PAYLOAD_TOO_LARGE', `the body has more than ${bytesMax} bytes`)
}

export type Coding = 'identity' | 'gzip' | 'zstd'

const codings = new Map<string, Coding>([
  ['identity', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['zstd', 'zstd'],
])

/** Maps a `Content-Encoding`. Undefined for an unknown one. */
export function codingOf(contentEncoding: string | undefined): Coding | undefined {
  return codings.get((contentEncoding ?? 'identity').trim().toLowerCase())
}

const chunkSize = 1 << 16
/** RFC 9659 lets a sender of zstd over HTTP request a window of 8 MiB; the decoder's own limit would be 128 MiB. */
const zstdWindowLogMax = 23

function createDecoder(coding: Exclude<Coding, 'identity'>) {
  if (coding === 'gzip') return createGunzip({ chunkSize })
  return createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLogMax } })
}

/** The uncompressed bytes of a body. Throws a `BodyFault` where it cannot be decompressed. */
export async function* decoded(pieces: AsyncIterable<Uint8Array>, coding: Coding): AsyncGenerator<Uint8Array> {
  if (coding === 'identity') {
    for await (const piece of pieces) {
      yield piece
      // A reader that requests the next piece has finished this one.
      if (ownsBuffer(piece)) detachBuffers([piece])
    }
    return
  }
  const decoder = createDecoder(coding)
  // The decoder's reader gets its errors and the errors of the pieces.
  pipeline(Readable.from(pieces, { highWaterMark: 1 }), decoder, () => undefined)
  try {
    yield* decoder
  } catch (error) {
    throw error instanceof BodyFault ? error : new BodyFault('BODY_BROKEN', (error as Error).message)
  }
}

export interface BodyLimits {
  /** Limit of the body's size, compressed and uncompressed. */
  bodyBytesMax?: number
  /** Limit of the time without data while the service waits for it. */
  silenceMsMax?: number
}

/** Throws a `BodyFault` beyond a limit. */
export async function* limitedBody(
  body: Readable,
  { bodyBytesMax = Number.POSITIVE_INFINITY, silenceMsMax }: BodyLimits,
): AsyncGenerator<Uint8Array> {
  const pieces: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]()
  let bytes = 0
  try {
    for (;;) {
      const next = await nextPieceInTime(pieces, body, silenceMsMax)
      if (next.done === true) return
      bytes += next.value.length
      if (bytes > bodyBytesMax) throw tooLarge(bodyBytesMax)
      yield next.value
    }
  } finally {
    await pieces.return?.()
  }
}

/** The time runs only while the service waits for the sender, not while the last piece is stored. */
async function nextPieceInTime(
  pieces: AsyncIterator<Uint8Array>,
  body: Readable,
  silenceMsMax: number | undefined,
): Promise<IteratorResult<Uint8Array>> {
  if (silenceMsMax === undefined) return await pieces.next()
  const giveUp = () => body.destroy(new BodyFault('TIMEOUT', 'the body did not come in time'))
  const timer = setTimeout(giveUp, silenceMsMax)
  try {
    return await pieces.next()
  } finally {
    clearTimeout(timer)
  }
}
