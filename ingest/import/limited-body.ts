/** A body as it comes in, with a bound on its bytes and on the time in which nothing of it comes. */

import type { Readable } from 'node:stream'
import { BodyFault, tooLarge } from './body-fault.ts'

export interface BodyLimits {
  /** Of the body, with and without its compression. */
  bodyBytesMax?: number
  /** Of the silence of a sender while its body is waited for. */
  silenceMsMax?: number
}

/** Throws a `BodyFault` where a limit is passed. */
export async function* limitedBody(
  body: Readable,
  { bodyBytesMax = Number.POSITIVE_INFINITY, silenceMsMax }: BodyLimits,
): AsyncGenerator<Uint8Array> {
  const pieces: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]()
  let bytes = 0
  try {
    for (;;) {
      const next = await nextPiece(pieces, body, silenceMsMax)
      if (next.done === true) return
      bytes += next.value.length
      if (bytes > bodyBytesMax) throw tooLarge(bodyBytesMax)
      yield next.value
    }
  } finally {
    await pieces.return?.()
  }
}

/** The time is measured only while the sender is waited for, not while its last piece is stored. */
async function nextPiece(
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
