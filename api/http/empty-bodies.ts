/**
 * Requests without a body. With `optimizeEmptyRequests` Node makes them with a stream that has ended, and leaves out its
 * events, which take some 3 µs of 25. Whoever reads a body waits for its `end`.
 */

import type { IncomingMessage } from 'node:http'

/** Of these nobody reads a body. */
const withoutReader: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD'])

/** Emits `end` to listeners of a body that is not there. To be called before anything is read. */
export function emitEndOfEmptyBody(request: IncomingMessage): void {
  if (!request.readableEnded || withoutReader.has(request.method)) return
  // Node marks it as destroyed too, as it does a body that broke off.
  request.destroyed = false
  request.on('newListener', (event, listener) => {
    if (event === 'end') process.nextTick(() => listener.call(request))
  })
}
