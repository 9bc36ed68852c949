/** A body that is handed on as it comes, in whatever coding, and can be given up without losing the answer. */

import type { IncomingMessage } from 'node:http'
import { finished, PassThrough } from 'node:stream'

/** For `Accept-Encoding` in the answer to an unknown coding (RFC 9110, 12.5.3). */
export const knownCodings = 'gzip, zstd'

/**
 * The body as a stream of its own, with the bytes that were sent. The two are joined by hand, because a pipeline would
 * destroy the request, and with it the connection for the answer, as soon as the body is given up.
 */
export function bodyOf(request: IncomingMessage): PassThrough {
  const body = new PassThrough()
  const stopWatching = finished(request, { writable: false }, error => {
    if (error) body.destroy(error)
  })
  body.once('close', () => {
    stopWatching()
    request.unpipe(body)
    // What is left unread is read and dropped, so that a client that sends all before it listens gets its answer.
    request.resume()
  })
  // Whoever reads the body meets its errors; this one only keeps an error between two reads from being fatal.
  body.on('error', () => undefined)
  request.pipe(body)
  return body
}
