/** The elements of a streamed JSON array, as lines. */

import { ArrayLines } from '../formats/json-array.ts'
import { BodyFault } from './body-fault.ts'

/** Throws a `BodyFault` where the body is not a JSON array, or is incomplete. */
export async function* arrayBody(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const elements = new ArrayLines()
  for await (const piece of body) {
    const lines = elements.take(piece)
    if (lines === undefined) throw new BodyFault('JSON_INVALID', 'the body is not a JSON array')
    yield lines
  }
  if (!elements.isComplete()) throw new BodyFault('JSON_INVALID', 'the body ends before its JSON array does')
}
