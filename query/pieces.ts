/** Bodies that are built piece by piece while they are sent. */

export class BodyInterrupted<Code extends string> extends Error {
  override name = 'BodyInterrupted'
  readonly code: Code

  constructor(code: Code) {
    super(`the body cannot be finished: ${code}`)
    this.code = code
  }
}

export type Pieces<Code extends string> =
  | { readonly ok: true; readonly pieces: AsyncIterable<Uint8Array> }
  | { readonly ok: false; readonly code: Code }

/** The first piece is made before a response begins, so that its failure still has a status. */
export async function begun<Code extends string>(
  header: Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
): Promise<Pieces<Code>> {
  try {
    return { ok: true, pieces: continued(header, await rest.next(), rest) }
  } catch (error) {
    if (error instanceof BodyInterrupted) return { ok: false, code: error.code }
    throw error
  }
}

async function* continued(
  header: Uint8Array,
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  // A caller that leaves early ends the rest too.
  try {
    yield header
    if (first.done !== true) yield first.value
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}
