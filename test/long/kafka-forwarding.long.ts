/** What a forwarder that is frozen or killed has in flight to QuestDB, and the one that follows it. */

import t from 'tap'
import { createRandom } from '../faults/seeded-random.ts'
import { startTcpProxy } from '../faults/tcp-proxy.ts'
import { store } from '../ingest/kafka/broker.ts'
import { append, forward, forwardApart, makeTopic, nowUs, untilCommitted, valuesOf } from '../ingest/kafka/forwarded.ts'
import { recordingLog } from '../support/databases.ts'
import { freezeProcess } from '../support/frozen.ts'
import { device, records } from '../support/journal-parts.ts'
import { startKafkaProxy } from '../support/kafka-proxy.ts'
import { until } from '../support/processes.ts'

t.test('a standby goes on when the holder is frozen, and what that has in flight replaces nothing newer', async t => {
  const of = await makeTopic(t)
  const first = nowUs()
  const proxy = await startKafkaProxy(t)
  proxy.targetPort = store.questdb.address.http.port
  const questdb = { ...store.questdb.address.http, host: '127.0.0.1', port: proxy.port }
  const holder = await forwardApart(t, of.replica('a', { questdb }))
  await append(of, records(device(of.device), [1], first))
  await untilCommitted(of, 1)

  // A time of a client's, so that a later value may come for it.
  const atMs = Math.floor(first / 1000) + 1
  const held = proxy.hold()
  await append(of, records(device(of.device), [2], atMs * 1000))
  const bytesBefore = held.bytes()
  await until('the request is under way', () => held.bytes() > bytesBefore + 300)
  freezeProcess(holder.pid ?? 0)
  await append(of, records(device(of.device), [3], atMs * 1000))
  const { log, texts } = recordingLog('info')
  const next = forward(t, of.replica('b'), log)
  await untilCommitted(of, 3)
  t.ok(texts.includes('replica held by another process, standing by'))
  t.strictSame(await valuesOf(of.device), [1, 3])

  held.deliver()
  await until('the older value has replaced the newer one', async () => (await valuesOf(of.device)).includes(2))
  holder.kill('SIGCONT')
  await until('it was sent again', async () => (await valuesOf(of.device)).includes(3))
  await untilCommitted(of, 3)
  t.match(next.status(), [{ status: { losses: 1 } }])
})

t.test('what a killed process has in flight is over before anything newer is sent', async t => {
  const of = await makeTopic(t)
  const atMs = Date.now()
  const proxy = await startKafkaProxy(t)
  proxy.targetPort = store.questdb.address.http.port
  const questdb = { ...store.questdb.address.http, host: '127.0.0.1', port: proxy.port }
  const killed = await forwardApart(t, of.replica('a', { questdb }))
  await append(of, records(device(of.device), [1], atMs * 1000 - 1000))
  await untilCommitted(of, 1)
  const held = proxy.hold()
  await append(of, records(device(of.device), [2], atMs * 1000))
  const bytesBefore = held.bytes()
  await until('the request is under way', () => held.bytes() > bytesBefore + 300)
  killed.kill('SIGKILL')
  await append(of, records(device(of.device), [3], atMs * 1000))

  const way = await startTcpProxy(t, proxy.targetPort, createRandom(1))
  const direct = { ...questdb, port: way.port }
  forward(t, of.replica('b', { questdb: direct }))
  // It asks QuestDB again and again until it may send.
  await until('the next process has asked for a while', () => way.bytesUp > 3000)
  held.deliver()
  await untilCommitted(of, 3)
  t.strictSame(await valuesOf(of.device), [1, 3])
})
