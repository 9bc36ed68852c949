/** Selection of a replica: it responds, is not behind, and shows no less than earlier reads. */

import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { createReplicas, onReplica } from '../../query/replicas.ts'

const address = {} as never

function world(preferred?: number) {
  let nowMs = 0
  const end = [0, 0]
  const state = () => ({ isUp: true, shown: [0, 0] })
  const states = [state(), state()] as const
  const replicas = createReplicas(
    states.map(state => ({ address, answers: () => state.isUp, shown: () => state.shown, end: () => [...end] })),
    { preferred, monotonicMs: () => nowMs },
  )
  function pass(ms: number): void {
    nowMs += ms
  }
  return { replicas, states, end, pass }
}

const waiting = Symbol()
const atOnce = (chosen: unknown) => Promise.race([chosen, setImmediate(waiting)])

t.test('a replica that answers and is not behind stays the one that is read', async t => {
  const { replicas, states, pass } = world()
  t.equal(replicas.choose(), 1)
  states[1].shown.splice(0, 2, 9, 9)
  pass(9_000)
  t.equal(replicas.choose(), 1, 'it may be behind for a moment')
  pass(11_000)
  t.equal(await replicas.choose(), 2)
  t.strictSame([replicas.current(), replicas.changes()], [2, 1])
  states[0].shown.splice(0, 2, 9, 9)
  t.equal(replicas.choose(), 2, 'without a preference it does not change again')
})

t.test('the preferred replica is read again when it answers and has caught up', async t => {
  const { replicas, states, pass } = world(2)
  t.equal(replicas.choose(), 2)
  states[1].isUp = false
  t.equal(await replicas.choose(), 1)
  states[0].shown.splice(0, 2, 5, 5)
  t.equal(replicas.behindMs()[0], 0)
  pass(20_000)
  states[1].isUp = true
  t.equal(await replicas.choose(), 1, 'it is 20 s behind')
  states[1].shown.splice(0, 2, 5, 5)
  t.equal(await replicas.choose(), 2)
})

t.test('no reader goes back in time', async t => {
  const { replicas, states, pass } = world()
  states[0].shown.splice(0, 2, 5, 5)
  t.equal(replicas.choose(), 1)
  states[0].isUp = false
  states[1].shown.splice(0, 2, 5, 4)
  const chosen = replicas.choose()
  t.equal(await atOnce(chosen), waiting, 'points are missing')
  states[1].shown.splice(0, 2, 5, 5)
  t.equal(await chosen, 2)
  states[1].shown.splice(0, 2, 6, 6)
  t.equal(replicas.choose(), 2)
  states[1].isUp = false
  states[0].isUp = true
  const late = replicas.choose()
  pass(6_000)
  t.equal(await late, undefined, 'after some seconds the read fails')
  t.equal(replicas.current(), 2)
})

t.test('a reader does not go back behind rows that a replica showed before it reported them', async t => {
  const { replicas, states, end } = world()
  t.equal(replicas.choose(), 1)
  end.splice(0, 2, 7, 7)
  replicas.wasRead(1)
  states[0].isUp = false
  states[1].shown.splice(0, 2, 7, 6)
  const chosen = replicas.choose()
  t.equal(await atOnce(chosen), waiting)
  states[1].shown.splice(0, 2, 7, 7)
  t.equal(await chosen, 2)
  end.splice(0, 2, 9, 9)
  t.equal(replicas.choose(), 2, 'it may be behind what it has shown itself')
  replicas.wasRead(1)
  const late = replicas.choose()
  t.equal(await atOnce(late), waiting, 'a read of the other replica has ended since')
  states[1].shown.splice(0, 2, 9, 9)
  t.equal(await late, 2)
})

t.test('reads wait until the preferred replica has caught up, for two seconds in each minute', async t => {
  const { replicas, states, end, pass } = world(2)
  states[1].isUp = false
  t.equal(await replicas.choose(), 1)
  end.splice(0, 2, 5, 5)
  replicas.wasRead(1)
  states[1].isUp = true
  const first = replicas.choose()
  t.equal(await atOnce(first), waiting)
  pass(2_000)
  t.equal(await first, 1)
  for (let reads = 0; reads < 3; reads++) {
    t.equal(await atOnce(replicas.choose()), 1, 'it is not tried again at once')
    pass(20_500)
  }
  const second = replicas.choose()
  t.equal(await atOnce(second), waiting)
  states[1].shown.splice(0, 2, 5, 5)
  t.equal(await second, 2)
})

t.test('without any that answers nothing is chosen', async t => {
  const { replicas, states } = world()
  states[0].isUp = states[1].isUp = false
  t.equal(await replicas.choose(), undefined)
})

const noSignal = new AbortController().signal

t.test('a query whose replica is unavailable runs once more, on another one', async t => {
  const { replicas, pass } = world()
  const asked: number[] = []
  const query = (isAway: (replica: number) => boolean) =>
    onReplica(replicas, noSignal, async replica => {
      asked.push(replica)
      return isAway(replica) ? { ok: false, code: 'DATABASE_AWAY' } : { ok: true, replica }
    })
  t.match(await query(replica => replica === 1), { ok: true, replica: 2 })
  t.match(await query(() => false), { ok: true, replica: 2 }, 'the replica is not asked again before it was probed')
  t.strictSame(asked, [1, 2, 2])
  pass(6_000)
  t.match(await query(() => true), { ok: false, code: 'DATABASE_AWAY' })
  t.strictSame(asked, [1, 2, 2, 2, 1])
  t.match(await onReplica(replicas, noSignal, async () => ({ ok: false, code: 'TIMED_OUT' })), { code: 'TIMED_OUT' })
})

t.test('a query whose replica stops answering is cancelled and runs on another one', async t => {
  const { replicas, states } = world()
  const result = await onReplica(replicas, noSignal, async (replica, signal) => {
    if (replica === 2) return { ok: true, replica }
    states[0].isUp = false
    await once(signal, 'abort')
    return { ok: false, code: 'CANCELLED' }
  })
  t.match(result, { ok: true, replica: 2 })
})
