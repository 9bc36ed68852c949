/** What goes to QuestDB while a process may not send any more, and what it has to tell its successor. */

import t from 'tap'
import type { QuestdbConnection, WriteAnswer } from '../../ingest/forwarder/questdb.ts'
import { createSendGuard } from '../../ingest/kafka/guarded-connection.ts'

const rows = { length: 2, pieces: () => [Buffer.from('a'), Buffer.from('b')] }

function createRig() {
  let isHeld = true
  const sent: string[] = []
  const rig = {
    /** Before the piece of this number the replica is lost. */
    lostBefore: Number.POSITIVE_INFINITY,
    answer: { kind: 'stored' } as WriteAnswer,
    lose() {
      isHeld = false
    },
  }
  const connect = (): QuestdbConnection => ({
    async write({ pieces }) {
      let count = 0
      try {
        for (const piece of pieces()) {
          sent.push(piece.toString())
          if (++count >= rig.lostBefore) isHeld = false
        }
        return rig.answer
      } catch (error) {
        return { kind: 'unanswered', message: String(error) }
      }
    },
    query: async () => [],
    close: () => undefined,
  })
  const sends = createSendGuard(() => isHeld)
  return { rig, sent, sends, guarded: sends.guard(connect()), another: sends.guard(connect()) }
}

t.test('a request stops where the replica is lost, and may have come late if any of it was sent then', async t => {
  const cases = [
    { lostBefore: Number.POSITIVE_INFINITY, kind: 'stored', sent: ['a', 'b'], isLate: false },
    { lostBefore: 0, kind: 'failed', sent: [], isLate: false },
    { lostBefore: 1, kind: 'unanswered', sent: ['a'], isLate: true },
    { lostBefore: 2, kind: 'stored', sent: ['a', 'b'], isLate: true },
  ]
  for (const { lostBefore, kind, sent: expected, isLate } of cases) {
    const { guarded, sends, sent, rig } = createRig()
    rig.lostBefore = lostBefore
    if (lostBefore === 0) rig.lose()
    t.equal((await guarded.write(rows)).kind, kind)
    t.strictSame([sent, sends.mayHaveSentLate()], [expected, isLate])
  }
})

t.test('one without an answer may come late, until it was repeated over the same connection', async t => {
  const { guarded, another, sends, rig } = createRig()
  rig.answer = { kind: 'unanswered', message: 'cut' }
  await guarded.write(rows)
  rig.answer = { kind: 'stored' }
  await another.write(rows)
  t.equal(sends.mayHaveSentLate(), true)
  await guarded.write(rows)
  t.equal(sends.mayHaveSentLate(), false)
})
