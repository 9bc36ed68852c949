/**
 * Blocks requests to QuestDB while the replica is not held: each request and each piece of one checks the clock. Tracks whether
 * QuestDB may still accept rows of this process after it has lost the replica.
 */

import type { QuestdbConnection, WriteAnswer } from '../forwarder/questdb.ts'
import type { RequestBody } from '../forwarder/request-body.ts'

const notHeld = 'this process does not hold the replica'

export interface SendGuard {
  guard(connection: QuestdbConnection): QuestdbConnection
  /**
   * True when a request ended without an answer, or while the replica was not held: then QuestDB may accept its rows late. A
   * later success over the same connection clears it, since that waits for QuestDB first.
   */
  mayHaveSentLate(): boolean
}

export function createSendGuard(isHeld: () => boolean): SendGuard {
  const unanswered = new Set<QuestdbConnection>()
  let isLate = false

  function note(connection: QuestdbConnection, answer: WriteAnswer): void {
    // The request may have been delayed, with a piece of it, until another process held the replica.
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

/** QuestDB drops an incomplete request. */
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
