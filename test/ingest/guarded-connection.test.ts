/** What goes to QuestDB while a process may not send any more, and what it has to tell its successor. */

import t from 'tap'
import type { QuestdbConnection, WriteAnswer } from '../../ingest/forwarder/questdb.ts'
import { createSendGuard } from '../../ingest/kafka/guarded-connection.ts'

const rows = { length: 2, pieces: () => [Buffer.from('a'), Buffer.from('b')] }

function createRig() {
  let isHeld = true
  const sent: string[] = []
  const rig = {
    /** Before the piece of this number the shard is lost. */
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

t.test('a request goes through while the shard is held, and leaves nothing to tell', async t => {
  const { guarded, sends, sent } = createRig()
  t.strictSame(await guarded.write(rows), { kind: 'stored' })
  t.strictSame(sent, ['a', 'b'])
  t.equal(sends.mayHaveSentLate(), false)
})

t.test('nothing is sent when it is not held', async t => {
  const { guarded, sends, sent, rig } = createRig()
  rig.lose()
  t.match(await guarded.write(rows), { kind: 'failed', status: undefined })
  t.strictSame(sent, [])
  t.equal(sends.mayHaveSentLate(), false)
})

t.test('a request stops where the shard is lost', async t => {
  const { guarded, sends, sent, rig } = createRig()
  rig.lostBefore = 1
  t.match(await guarded.write(rows), { kind: 'unanswered' })
  t.strictSame(sent, ['a'])
  t.equal(sends.mayHaveSentLate(), true)
})

t.test('one that was answered when the shard was lost may have come late', async t => {
  const { guarded, sends, rig } = createRig()
  rig.lostBefore = 2
  await guarded.write(rows)
  t.equal(sends.mayHaveSentLate(), true)
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
