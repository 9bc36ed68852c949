/** A body as a stream of plain bytes, whatever its coding, that can be given up without losing the answer. */

import type { IncomingMessage } from 'node:http'
import { type Duplex, finished, PassThrough } from 'node:stream'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'

/** RFC 9659 lets a sender of zstd over HTTP ask for a window of 8 MiB; the decoder's own limit would be 128 MiB. */
const zstdWindowLogMax = 23

const decoders = new Map<string, () => Duplex>([
  ['identity', () => new PassThrough()],
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['zstd', () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLogMax } })],
])

/** For `Accept-Encoding` in the answer to an unknown coding (RFC 9110, 12.5.3). */
export const knownCodings = 'gzip, zstd'

/** Undefined for a coding that is not known. */
export function decoderOf(contentEncoding: string | undefined): Duplex | undefined {
  return decoders.get((contentEncoding ?? 'identity').trim().toLowerCase())?.()
}

/**
 * Leads the request through the decoder. The two are joined by hand, because a pipeline would destroy the request, and
 * with it the connection for the answer, as soon as the decoder is given up.
 */
export function feed(decoder: Duplex, request: IncomingMessage): void {
  const stopWatching = finished(request, { writable: false }, error => {
    if (error) decoder.destroy(error)
  })
  decoder.once('close', () => {
    stopWatching()
    request.unpipe(decoder)
    // What is left unread is read and dropped, so that a client that sends all before it listens gets its answer.
    request.resume()
  })
  // Whoever reads the decoder meets its errors; this one only keeps an error between two reads from being fatal.
  decoder.on('error', () => undefined)
  request.pipe(decoder)
}
