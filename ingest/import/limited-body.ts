/** An arriving body, with limits of its size and of its idle time. */

import type { Readable } from 'node:stream'
import { BodyFault, tooLarge } from './body-fault.ts'

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

/** The time runs only while the service waits for the sender, not while the last piece is stored. */
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
