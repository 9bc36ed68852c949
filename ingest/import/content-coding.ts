/** The content codings of bulk bodies. */

import { pipeline, Readable } from 'node:stream'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'
import { detachBuffers, ownsBuffer } from '../../store/limits/detach-buffers.ts'
import { BodyFault } from './body-fault.ts'

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
