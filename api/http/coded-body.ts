/** Passes a body on as it arrives, in any coding, and keeps the connection for the answer if the body is dropped. */

import type { IncomingMessage } from 'node:http'
import { finished, PassThrough } from 'node:stream'

/** Sent as `Accept-Encoding` with the answer to an unknown coding (RFC 9110, 12.5.3). */
export const knownCodings = 'gzip, zstd'

/** Copies the sent bytes to a separate stream: dropping a pipeline would close the connection, too. */
export function bodyOf(request: IncomingMessage): PassThrough {
  const body = new PassThrough()
  const stopWatching = finished(request, { writable: false }, error => {
    if (error) body.destroy(error)
  })
  body.once('close', () => {
    stopWatching()
    request.unpipe(body)
    // Unread bytes are discarded, so that a client that sends all before it reads gets its answer.
    request.resume()
  })
  // The reader of the body handles errors. This listener keeps an error between two reads from being fatal.
  body.on('error', () => undefined)
  request.pipe(body)
  return body
}
