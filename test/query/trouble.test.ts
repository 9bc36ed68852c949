/** Behaviour of queries when QuestDB is down, a time limit passes or the client aborts. */

import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { AnalysedDevice } from '../../query/analysed-device.ts'
import { recordingLog } from '../support/databases.ts'
import { openGate } from '../support/pg-gate.ts'
import { plainDevice } from '../support/plain-device.ts'
import { until } from '../support/processes.ts'
import { startQuestdb } from '../support/questdb.ts'
import { bodyIn, makeDevice, queryAt, stays, type TestQueryOptions } from './query-at.ts'

const questdb = await startQuestdb(t)
const { pg } = questdb.address
const away = { ok: false, code: 'DATABASE_AWAY' }
const closing = { ok: false, code: 'CLOSING' }

async function behindGate(t: Test, options: TestQueryOptions = {}) {
  const gate = await openGate(t, pg)
  const device = makeDevice('trouble')
  const query = queryAt(t, gate.address, '2025-10-01T12:00:00Z', options)
  const day = (number: number, signal = stays()) => query.day(device, `2025-09-0${number}`, signal)
  return { gate, query, day, latest: () => query.latestAll(1, () => [device]) }
}

t.test('without QuestDB and a cached body the query fails until QuestDB restarts', async t => {
  const { log, texts: warnings } = recordingLog('warn')
  const { gate, day, latest } = await behindGate(t, { log })
  await gate.shut()
  t.strictSame([await latest(), await day(1)], [away, away])
  t.equal(warnings.length, 1, 'one line says so')
  await gate.open()
  t.ok((await latest()).ok && (await day(1)).ok)
})

t.test('a wrong password appears only in the log', async t => {
  const { log, texts: warnings } = recordingLog('warn')
  const query = queryAt(t, { ...pg, password: 'wrong' }, '2025-09-01T12:00:00Z', { log })
  t.strictSame(await query.latestAll(1, () => [makeDevice('password')]), away)
  t.equal(warnings.length, 1)
})

t.test('a query that finds its old connection cut is asked again over a new one', async t => {
  const { gate, day } = await behindGate(t, { limits: { threadsMax: 1 } })
  await day(1)
  gate.cutAtNextStatement()
  t.ok((await day(2)).ok)
  await gate.shut()
  await gate.open()
  t.ok((await day(3)).ok, 'a connection cut between queries has no effect')
  gate.cutAtNextStatement()
  gate.cutAtNextStatement()
  t.strictSame(await day(4), away, 'a second time it is QuestDB that is away')
})

t.test('when too many queries wait, the next is refused and the others are answered', async t => {
  const { gate, query, day } = await behindGate(t, { limits: { threadsMax: 1, queueMax: 2 } })
  await day(1)
  gate.hold()
  const waiting = [day(2), day(3), day(4)]
  await until('two queries wait', () => query.queueLengths().light === 2)
  t.strictSame(await day(5), { ok: false, code: 'QUEUE_FULL' })
  gate.release()
  t.ok((await Promise.all(waiting)).every(({ ok }) => ok))
})

t.test('an aborted query is removed from the queue, or cancelled in QuestDB', async t => {
  const { gate, day } = await behindGate(t, { limits: { threadsMax: 1, timeoutMs: 600_000 } })
  await day(1)
  gate.hold()
  const [one, two, other] = [new AbortController(), new AbortController(), new AbortController()]
  const running = [day(2, one.signal), day(2, two.signal)]
  const queued = day(3, other.signal)
  await until('it was asked', () => gate.statements() === 2)
  other.abort()
  const cancelled = { ok: false, code: 'CANCELLED' }
  t.strictSame(await queued, cancelled)
  one.abort()
  t.equal(gate.connections(), 1, 'one still waits')
  two.abort()
  t.strictSame(await Promise.all(running), [cancelled, cancelled])
  await until('the connection is cut', () => gate.connections() === 0)
  gate.release()
  t.ok((await day(2)).ok)
})

t.test('a QuestDB that hangs is abandoned', async t => {
  const { gate, day } = await behindGate(t, { limits: { timeoutMs: 1500, threadsMax: 1 } })
  // A busy machine may need longer than that for a new thread.
  await until('it answers', async () => (await day(1)).ok)
  gate.hold()
  t.strictSame(await day(2), { ok: false, code: 'TIMED_OUT' })
  gate.release()
  await until('it answers again', async () => (await day(3)).ok)
})

t.test('an answer of several statements has one deadline, its wait included', async t => {
  // It accepts connections and sends nothing, like a frozen server.
  const silent = createServer(socket => t.teardown(() => socket.destroy()))
  await new Promise<void>(listening => silent.listen(0, '127.0.0.1', listening))
  t.teardown(() => silent.close())
  const http = { host: '127.0.0.1', port: (silent.address() as AddressInfo).port, tls: false, authorization: undefined }
  const timeoutMs = 3000
  const { gate, query } = await behindGate(t, { http, limits: { timeoutMs, threadsMax: 1 } })
  gate.hold()
  const analysed: AnalysedDevice = { ...plainDevice, ...makeDevice('frozen') }
  const yardstick = sleep(1.9 * timeoutMs, 'later')
  const detail = query.detail(analysed, { points: undefined, withTimes: false, withFlags: false, custom: [] }, stays())
  const waiting = query.past(analysed, { custom: [] }, stays())
  const first = await Promise.race([Promise.all([detail, waiting]), yardstick])
  const late = { ok: false, code: 'TIMED_OUT' }
  t.strictSame(first, [late, late])
})

t.test('while QuestDB fails its probes, the cached body is served without a query', async t => {
  let answers = true
  const { gate, query, day, latest } = await behindGate(t, { answers: async () => answers })
  const body = bodyIn(await latest())
  const asked = gate.statements()
  answers = false
  t.strictSame(await day(2), away)
  query.clock.advance(10 * 60_000)
  t.match(await latest(), { body })
  t.equal(gate.statements(), asked)
  answers = true
  t.ok((await day(2)).ok)
})

t.test('a QuestDB that does not even greet is abandoned', async t => {
  const { gate, latest } = await behindGate(t, { limits: { connectTimeoutMs: 200 } })
  gate.hold()
  t.strictSame(await latest(), away)
})

t.test('a closed query returns no answer and may be closed twice', async t => {
  const { gate, query, day } = await behindGate(t)
  await day(1)
  gate.hold()
  const running = day(2)
  await Promise.all([query.close(), query.close()])
  t.strictSame([await running, await day(3)], [closing, closing])
  await until('no connection is left', () => gate.connections() === 0)
})
