/**
 * Requests without a body. With `optimizeEmptyRequests` Node makes them with a stream that has ended, and leaves out its
 * events, which take some 3 µs of 25. Who reads a body waits for the last of them.
 */

import type { IncomingMessage } from 'node:http'

/** Of these nobody reads a body. */
const withoutReader: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD'])

/** Whoever listens for the end of a body that is not there is told it. Called before anything is read. */
export function tellEndOfEmptyBody(request: IncomingMessage): void {
  if (!request.readableEnded || withoutReader.has(request.method)) return
  // Node marks it as destroyed too, as it does a body that broke off.
  request.destroyed = false
  request.on('newListener', (event, listener) => {
    if (event === 'end') process.nextTick(() => listener.call(request))
  })
}
