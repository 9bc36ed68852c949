/** What happens to queries when QuestDB, the time or the client is gone. */

import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { AnalysedDevice } from '../../query/analysed-device.ts'
import { recordingLog } from '../support/databases.ts'
import { openGate } from '../support/pg-gate.ts'
import { until } from '../support/processes.ts'
import { startQuestdb } from '../support/questdb.ts'
import { bodyIn, makeDevice, queryAt, stays } from './query-at.ts'

const questdb = await startQuestdb(t)
const { pg } = questdb.address
const away = { ok: false, code: 'DATABASE_AWAY' }

t.test('without QuestDB and without a body there is no answer, and QuestDB is found again', async t => {
  const gate = await openGate(t, pg)
  await gate.shut()
  const { log, texts: warnings } = recordingLog('warn')
  const device = makeDevice('first')
  const query = queryAt(t, gate.address, '2025-09-01T12:00:00Z', { log })
  t.strictSame(await query.latestAll(1, () => [device]), away)
  t.strictSame(await query.day(device, '2025-09-01', stays()), away)
  t.equal(warnings.length, 1, 'one line says so')
  await gate.open()
  t.ok((await query.latestAll(1, () => [device])).ok)
  t.ok((await query.day(device, '2025-09-01', stays())).ok)
})

t.test('a wrong password is told from nothing by nobody but the log', async t => {
  const { log, texts: warnings } = recordingLog('warn')
  const query = queryAt(t, { ...pg, password: 'wrong' }, '2025-09-01T12:00:00Z', { log })
  t.strictSame(await query.latestAll(1, () => [makeDevice('password')]), away)
  t.equal(warnings.length, 1)
})

t.test('a query that finds its old connection cut is asked again over a new one', async t => {
  const gate = await openGate(t, pg)
  const device = makeDevice('cut')
  const query = queryAt(t, gate.address, '2025-09-04T12:00:00Z', { limits: { threadsMax: 1 } })
  await query.day(device, '2025-09-01', stays())
  gate.cutAtNextStatement()
  t.ok((await query.day(device, '2025-09-02', stays())).ok)
  await gate.shut()
  await gate.open()
  t.ok((await query.day(device, '2025-09-03', stays())).ok, 'one that was cut between queries is missed by nobody')
  gate.cutAtNextStatement()
  gate.cutAtNextStatement()
  t.strictSame(await query.day(device, '2025-09-04', stays()), away, 'a second time it is QuestDB that is away')
})

t.test('when too many queries wait, the next is refused and the others are answered', async t => {
  const gate = await openGate(t, pg)
  const device = makeDevice('queue')
  const query = queryAt(t, gate.address, '2025-09-05T12:00:00Z', { limits: { threadsMax: 1, queueMax: 2 } })
  await query.day(device, '2025-09-01', stays())
  gate.hold()
  const waiting = ['2025-09-02', '2025-09-03', '2025-09-04'].map(date => query.day(device, date, stays()))
  t.strictSame(query.queueLengths(), { light: 2, analysis: 0 })
  t.strictSame(await query.day(device, '2025-09-05', stays()), { ok: false, code: 'QUEUE_FULL' })
  gate.release()
  t.strictSame(
    (await Promise.all(waiting)).map(answer => answer.ok),
    [true, true, true],
  )
})

t.test('a query that nobody waits for any more is taken from the queue, or broken off in QuestDB', async t => {
  const gate = await openGate(t, pg)
  const device = makeDevice('left')
  // No time limit ends the query here.
  const query = queryAt(t, gate.address, '2025-09-06T12:00:00Z', { limits: { threadsMax: 1, timeoutMs: 600_000 } })
  await query.day(device, '2025-09-01', stays())
  gate.hold()
  const [one, two, other] = [new AbortController(), new AbortController(), new AbortController()]
  const running = [query.day(device, '2025-09-02', one.signal), query.day(device, '2025-09-02', two.signal)]
  const queued = query.day(device, '2025-09-03', other.signal)
  await until('it was asked', () => gate.statements() === 2)
  other.abort()
  t.strictSame(await queued, { ok: false, code: 'CANCELLED' })
  one.abort()
  t.equal(gate.connections(), 1, 'somebody waits still')
  two.abort()
  t.strictSame(await Promise.all(running), [
    { ok: false, code: 'CANCELLED' },
    { ok: false, code: 'CANCELLED' },
  ])
  await until('the connection is cut', () => gate.connections() === 0)
  gate.release()
  t.ok((await query.day(device, '2025-09-02', stays())).ok)
})

t.test('a QuestDB that hangs is abandoned', async t => {
  const gate = await openGate(t, pg)
  const device = makeDevice('hangs')
  const query = queryAt(t, gate.address, '2025-09-08T12:00:00Z', { limits: { timeoutMs: 1500, threadsMax: 1 } })
  // A busy machine may need longer than that for a new thread.
  const answers = async (date: string) => (await query.day(device, date, stays())).ok
  await until('it answers', () => answers('2025-09-01'))
  gate.hold()
  t.strictSame(await query.day(device, '2025-09-02', stays()), { ok: false, code: 'TIMED_OUT' })
  gate.release()
  await until('it answers again', () => answers('2025-09-03'))
})

t.test('an answer of several statements has one deadline, its wait included', async t => {
  const gate = await openGate(t, pg)
  // It takes connections and says nothing, as a frozen one does.
  const silent = createServer(socket => t.teardown(() => socket.destroy()))
  await new Promise<void>(listening => silent.listen(0, '127.0.0.1', listening))
  t.teardown(() => silent.close())
  const http = { host: '127.0.0.1', port: (silent.address() as AddressInfo).port, tls: false, authorization: undefined }
  const timeoutMs = 3000
  const query = queryAt(t, gate.address, '2025-09-08T12:00:00Z', { http, limits: { timeoutMs, threadsMax: 1 } })
  gate.hold()
  const device = {
    ...makeDevice('frozen'),
    expected_interval_seconds: null,
    altitude_m: null,
    location_desc: '',
    battery: false,
  }
  const analysed = device as unknown as AnalysedDevice
  const yardstick = sleep(1.9 * timeoutMs, 'later')
  const detail = query.detail(analysed, { points: undefined, withTimes: false, withFlags: false, further: [] }, stays())
  const waiting = query.past(analysed, { further: [] }, stays())
  const first = await Promise.race([Promise.all([detail, waiting]), yardstick])
  const late = { ok: false, code: 'TIMED_OUT' }
  t.strictSame(first, [late, late])
})

t.test('while QuestDB answers no probe nothing is asked of it, and the cached body is served', async t => {
  const gate = await openGate(t, pg)
  let answers = true
  const query = queryAt(t, gate.address, '2025-09-08T12:00:00Z', { questdbAnswers: async () => answers })
  const device = makeDevice('probe')
  const body = bodyIn(await query.latestAll(1, () => [device]))
  const asked = gate.statements()
  answers = false
  t.strictSame(await query.day(device, '2025-09-02', stays()), away)
  query.clock.advance(10 * 60_000)
  t.match(await query.latestAll(1, () => [device]), { body })
  t.equal(gate.statements(), asked)
  answers = true
  t.ok((await query.day(device, '2025-09-02', stays())).ok)
})

t.test('a QuestDB that does not even greet is abandoned', async t => {
  const gate = await openGate(t, pg)
  gate.hold()
  const query = queryAt(t, gate.address, '2025-09-09T12:00:00Z', { limits: { connectTimeoutMs: 200 } })
  t.strictSame(await query.latestAll(1, () => [makeDevice('silent')]), away)
})

t.test('a closed query answers nothing, and may be closed twice', async t => {
  const gate = await openGate(t, pg)
  const device = makeDevice('closed')
  const query = queryAt(t, gate.address, '2025-09-10T12:00:00Z')
  await query.day(device, '2025-09-01', stays())
  gate.hold()
  const running = query.day(device, '2025-09-02', stays())
  await Promise.all([query.close(), query.close()])
  t.strictSame(await running, { ok: false, code: 'CLOSING' })
  t.strictSame(await query.day(device, '2025-09-03', stays()), { ok: false, code: 'CLOSING' })
  await until('no connection is left', () => gate.connections() === 0)
})
