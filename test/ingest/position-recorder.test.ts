/** What the forwarder notes in QuestDB of how far it is. */

import t from 'tap'
import { PositionRecorder } from '../../ingest/forwarder/position-recorder.ts'

/** QuestDB keeps the position of an INSERT, and shows it while `shows` is set. */
function open(placeOf: (position: number) => number | undefined) {
  const questdb = { inserted: [] as number[], shows: true, isAway: false, onLook: () => {} }
  let nowMs = 0
  const recorder = new PositionRecorder({
    id: 'journal',
    async exec(sql) {
      if (questdb.isAway) throw new Error('away')
      const [, position] = /journal, (\d+), whole_from/.exec(sql) ?? []
      if (position === undefined) questdb.onLook()
      else questdb.inserted.push(Number(position))
      const last = questdb.inserted.at(-1)
      return questdb.shows && last !== undefined ? [[last]] : []
    },
    placeOf,
    from: 0,
    place: 0,
    nowMs: () => 0,
    timing: {
      monotonicMs: () => nowMs,
      after(_ms, work) {
        work()
        return () => undefined
      },
    },
  })
  async function record(position: number): Promise<unknown[]> {
    nowMs += 1000
    await recorder.record(position, [1, 1])
    return [recorder.position, recorder.place, questdb.inserted.at(-1)]
  }
  return { questdb, recorder, record }
}

t.test('nothing counts as recorded that QuestDB does not show', async t => {
  const { questdb, record } = open(position => position)
  questdb.shows = false
  t.strictSame(await record(100), [0, 0, 100])
  questdb.shows = true
  t.strictSame(await record(200), [100, 100, 100])
  t.strictSame(await record(200), [200, 200, 200])
  questdb.isAway = true
  await t.rejects(record(300), /away/)
})

t.test('a place that falls as more is fetched is not written, until rows are sent again', async t => {
  let placeOf = (position: number) => position / 50
  const { recorder, record } = open(position => placeOf(position))
  t.strictSame(await record(100), [100, 2, 2])
  placeOf = position => (position < 200 ? 0 : 4)
  t.strictSame(await record(100), [100, 2, 2])
  t.strictSame(await record(200), [200, 4, 4])
  placeOf = position => position / 50
  recorder.rewind(50)
  t.strictSame([recorder.position, recorder.place], [50, 1])
  t.strictSame(await record(100), [100, 2, 2])
})

t.test('a position that QuestDB shows after a rewind is not recorded', async t => {
  const { questdb, recorder, record } = open(position => position)
  questdb.onLook = () => recorder.rewind(50)
  t.strictSame(await record(100), [0, 0, 100])
  questdb.onLook = () => {}
  t.strictSame(await record(60), [60, 60, 60])
})
