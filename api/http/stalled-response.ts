/** A response that is sent in pieces, within a bound on the time in which its client takes nothing of it. */

import type { ServerResponse } from 'node:http'

/** A piece may be large; by smaller ones a slow client is told from one that has stopped reading. */
const sliceBytes = 64 * 1024
const stalledMsUsual = 60_000

/** The same bytes. The connection of a client that takes none of them for so long is cut. */
export async function* untilStalled(
  pieces: AsyncIterable<Uint8Array>,
  response: ServerResponse,
  stalledMsMax = stalledMsUsual,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; from += sliceBytes) {
      // The time is measured only while the client is waited for, not while the next piece is made.
      const timer = setTimeout(() => response.destroy(), stalledMsMax)
      try {
        yield piece.subarray(from, from + sliceBytes)
      } finally {
        clearTimeout(timer)
      }
    }
  }
}
