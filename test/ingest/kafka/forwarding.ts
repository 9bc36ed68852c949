/** Successive processes forward a replica from its topic to QuestDB in spite of faults. */

import { closeSync, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isWhole } from '../../../ingest/forwarder/dead-letters.ts'
import { groupHeaderLength } from '../../../ingest/journal/group.ts'
import { layoutOf, offsetOf } from '../../../ingest/journal/record.ts'
import { readings } from '../../../ingest/readings-table.ts'
import { createRandom } from '../../faults/seeded-random.ts'
import { startTcpProxy } from '../../faults/tcp-proxy.ts'
import { recordingLog } from '../../support/databases.ts'
import { device, records } from '../../support/journal-parts.ts'
import { until } from '../../support/processes.ts'
import { store } from './broker.ts'
import { append, committed, forward, makeTopic, newDevice, nowUs, untilCommitted, valuesOf } from './forwarded.ts'

t.test('appended records reach QuestDB once, with their offset committed and published', async t => {
  const of = await makeTopic(t)
  const first = nowUs()
  await append(of, records(device(of.device), [1, 2], first), records(device(of.device), [3], first + 10))
  forward(t, of.replica('a'))
  await untilCommitted(of, 2)
  await append(of, records(device(of.device), [4], first + 20), records(device(of.device), [5], first - 86_400_000_000))
  await untilCommitted(of, 4)
  t.strictSame(await valuesOf(of.device), [5, 1, 2, 3, 4])
  t.match((await of.state.published()).get(of.topic), {
    tenure: Number,
    losses: 0,
    committed: 4,
    applied: 4,
    sequenced: { offset: 4 },
    forwarder: { isSynced: true },
    spool: { next: 4, lostGroups: 0 },
  })
})

t.test('a row that QuestDB rejects becomes a letter in PostgreSQL without its file', async t => {
  const of = await makeTopic(t)
  const first = nowUs()
  const body = records(device(of.device), [0, 1, 2, 3], first)
  const length = body.length / 4
  body[length + layoutOf(readings).symbolsAt + 1] = 0xff
  body.writeDoubleLE(-5000, 2 * length + offsetOf.timeUs)
  await append(of, records(device(of.device), [9], first - 1), body)
  const forwarder = forward(t, of.replica('a'))
  await untilCommitted(of, 2)
  t.strictSame(await valuesOf(of.device), [9, 0, 3])
  const letters = (await of.state.letters.list(of.topic, -1, 10)).filter(isWhole)
  t.strictSame(
    letters.map(({ id, values, series }) => [id, values['temperature'], series]),
    [
      [2 ** 17 + 1, 1, of.device],
      [2 ** 17 + 2, 2, of.device],
    ],
  )
  await until('the files are gone', () => forwarder.status()?.[0]?.status.forwarder.deadLetters === 0)
  const ids = letters.map(({ id }) => id)
  t.equal(await of.state.letters.remove(of.topic, ids), 2)
  await append(of, records(device(of.device), [10], first + 100))
  await untilCommitted(of, 3)
  t.strictSame(await of.state.letters.list(of.topic, -1, 10), [], 'what was removed does not come back')
})

t.test('values of an erased series are not sent any more, which is confirmed', async t => {
  const of = await makeTopic(t)
  const other = newDevice()
  const first = nowUs()
  await append(of, records(device(of.device), [1], first), records(device(other), [1], first))
  await of.state.addTombstones(of.topic, [of.device], 1)
  t.strictSame(await of.state.unconfirmedTombstones(of.topic), [[of.device, 1]])
  const forwarder = forward(t, of.replica('a'))
  await untilCommitted(of, 2)
  await until('it is confirmed', async () => (await of.state.unconfirmedTombstones(of.topic)).length === 0)
  t.strictSame([await valuesOf(of.device), await valuesOf(other)], [[], [1]])
  await append(of, records(device(other), [2], first + 1), records(device(of.device), [2], first + 1))
  await untilCommitted(of, 4)
  t.strictSame(await valuesOf(of.device), [], 'nor what a node has let in before and appends late')
  await of.state.addTombstones(of.topic, [other], 4)
  await until('it is confirmed', async () => (await of.state.unconfirmedTombstones(of.topic)).length === 0)
  await forwarder.close()
})

t.test('a process commits applied records when it stops, so that the next one need not wait', async t => {
  const of = await makeTopic(t)
  const first = nowUs()
  await append(of, records(device(of.device), [1], first))
  const stopping = forward(t, of.replica('a'))
  await until('it is applied', () => stopping.status()?.[0]?.status.applied === 1)
  await stopping.close()
  t.equal(await committed(of), 1)
  t.strictSame((await store.postgres.query('SELECT holder FROM replicas')).rows, [{ holder: null }])
  await append(of, records(device(of.device), [2], first + 1))
  const next = forward(t, of.replica('b'))
  await untilCommitted(of, 2)
  t.strictSame(await valuesOf(of.device), [1, 2])
  t.match(next.status(), [{ status: { appliedBefore: 1, forwarder: { rows: 1 } } }], 'from the committed offset')
})

t.test('damaged parts of a spool are fetched again', async t => {
  const of = await makeTopic(t)
  const { port } = store.questdb.address.http
  const proxy = await startTcpProxy(t, port, createRandom(1))
  const replica = of.replica('a', { questdb: { ...store.questdb.address.http, host: '127.0.0.1', port: proxy.port } })
  const first = nowUs()
  const body = records(device(of.device), [1], first)
  const { log, texts } = recordingLog('error')
  const forwarder = forward(t, replica, log)
  const status = () => forwarder.status()?.[0]?.status
  await until('QuestDB has said how far it is', () => status()?.spool?.next === 0)
  proxy.trouble.refuses = true
  proxy.cut()
  await append(of, body)
  await until('the first is being sent', () => /ECONNRESET|EPIPE|hang up/.test(status()?.forwarder.issue ?? ''))
  await append(of, records(device(of.device), [2, 3], first + 10))
  await until('the second is in the spool', () => status()?.spool?.next === 2)
  const folder = join(replica.folder, of.topic)
  const [segment = ''] = readdirSync(folder).filter(name => name.endsWith('.journal'))
  const file = openSync(join(folder, segment), 'r+')
  writeSync(file, Buffer.from('damage'), 0, 6, 3 * groupHeaderLength + body.length + 20)
  closeSync(file)
  proxy.calm()
  await untilCommitted(of, 2)
  t.strictSame(await valuesOf(of.device), [1, 2, 3])
  t.ok(texts.includes('journal corrupted; damaged bytes moved to quarantine'))
  t.match(forwarder.status(), [{ status: { losses: 1 } }])
})
