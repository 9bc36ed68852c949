/**
 * Nothing goes to QuestDB while the replica is not held: before each request and each piece of one the clock is asked. Notes
 * whether QuestDB may yet take rows of this process after it has lost the replica.
 */

import type { QuestdbConnection, WriteAnswer } from '../forwarder/questdb.ts'
import type { RequestBody } from '../forwarder/request-body.ts'

const notHeld = 'this process does not hold the replica'

export interface SendGuard {
  guard(connection: QuestdbConnection): QuestdbConnection
  /**
   * Whether a request ended without an answer, or while the replica was not held: then QuestDB may take its rows late. One that was
   * repeated with success since, over the same connection, counts no more, as QuestDB was waited for before that.
   */
  mayHaveSentLate(): boolean
}

export function createSendGuard(isHeld: () => boolean): SendGuard {
  const unanswered = new Set<QuestdbConnection>()
  let isLate = false

  function note(connection: QuestdbConnection, answer: WriteAnswer): void {
    // It may have been held up, with a piece of it, until another process had the replica.
    if (!isHeld()) isLate = true
    if (answer.kind === 'unanswered') unanswered.add(connection)
    else if (answer.kind === 'stored') unanswered.delete(connection)
  }

  return {
    guard: connection => ({
      ...connection,
      async write(rows) {
        if (!isHeld()) return { kind: 'failed', status: undefined, message: notHeld }
        const answer = await connection.write(guardedBody(rows, isHeld))
        note(connection, answer)
        return answer
      },
    }),
    mayHaveSentLate: () => isLate || unanswered.size > 0,
  }
}

/** A request that lacks its end is dropped by QuestDB. */
function guardedBody({ length, pieces }: RequestBody, isHeld: () => boolean): RequestBody {
  return {
    length,
    *pieces() {
      for (const piece of pieces()) {
        if (!isHeld()) throw new Error(notHeld)
        yield piece
      }
    },
  }
}
