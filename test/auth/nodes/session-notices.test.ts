/** Sessions of clients that nodes tell each other of, on a real PostgreSQL. */

import t, { type Test } from 'tap'
import { PostgresClock } from '../../../auth/nodes/postgres-clock.ts'
import { openSessionNotices, sessionChannel } from '../../../auth/nodes/session-notices.ts'
import { nowhere, recordingLog, silentLog, startDatabases } from '../../support/databases.ts'
import { openNode } from '../../support/registries.ts'
import { waitFor } from '../../support/wait-for.ts'

const { store } = await startDatabases(t, nowhere)
const pool = store.postgres
const secret = 's'.repeat(64)

/** A node, and what it has heard of others. */
async function open(t: Test) {
  const { nodes } = await openNode(t, store, { sessionSecret: secret })
  const heard: [name: string, agoMs: number][] = []
  const { sessions } = nodes
  if (sessions === undefined) throw new Error('a node with a secret tells of sessions')
  sessions.onBegun((name, agoMs) => void heard.push([name, agoMs]))
  return { sessions, heard }
}

/** All that is sent on the channel. */
async function listen(t: Test): Promise<string[]> {
  const payloads: string[] = []
  const client = await store.connectPostgres()
  t.teardown(() => client.end())
  client.on('notification', ({ payload = '' }) => void payloads.push(payload))
  await client.query(`LISTEN ${sessionChannel}`)
  return payloads
}

t.test('a session that begins is told to the other nodes, with the time since then, and names nobody', async t => {
  const alone = await open(t)
  const payloads = await listen(t)
  alone.sessions.begun(alone.sessions.nameOf('nobody is there to be told'))
  const [one, other] = [await open(t), await open(t)]
  const name = one.sessions.nameOf('device 7 porch')
  t.match(name, /^[\w-]{22}$/)
  t.equal(other.sessions.nameOf('device 7 porch'), name, 'the same at each node')
  t.not(one.sessions.nameOf('device 8 porch'), name)
  one.sessions.begun(name)
  await waitFor('all have heard it', () => [other.heard, alone.heard, payloads].every(({ length }) => length > 0))
  t.equal(other.heard[0]?.[0], name)
  // The clock of PostgreSQL is known to half the time of an answer.
  t.ok((other.heard[0]?.[1] ?? -10_000) > -1_000, 'it is not younger than it can be')
  t.strictSame(one.heard, [], 'not by who has told it')
  t.equal(payloads.length, 1, 'a node that was alone has told nobody')
  t.notMatch(payloads[0], /porch|device/)
})

t.test('a thousand sessions that begin at once are a few payloads, in ten statements a second at most', async t => {
  const [other, one] = [await open(t), await open(t)]
  const payloads = await listen(t)
  for (let at = 0; at < 1_000; at++) one.sessions.begun(one.sessions.nameOf(String(at)))
  one.sessions.begun(one.sessions.nameOf('0'))
  await waitFor('all are heard', () => other.heard.length === 1_000)
  t.strictSame(new Set(other.heard.map(([name]) => name)).size, 1_000)
  await waitFor('the last one has come', () => payloads.length >= 5)
  t.equal(payloads.length, 5)
  t.ok(payloads.every(payload => payload.length < 8_000))
})

t.test('what does not fit is not told, and the log says so once', async t => {
  const { log, texts } = recordingLog('warn')
  const clock = new PostgresClock()
  clock.note(performance.now(), Date.now())
  const failing = { query: async () => Promise.reject(new Error('away')) }
  const notices = openSessionNotices({
    pool: failing as never,
    id: 'one',
    secret,
    clock,
    others: () => 1,
    log,
    pauseMs: 1,
  })
  if (notices === undefined) throw new Error('it has a secret')
  t.teardown(() => notices.close())
  for (let at = 0; at < 20_010; at++) notices.begun(String(at))
  t.equal(texts.length, 1)
  await waitFor('all were tried', async () => true)
  t.strictSame(texts, ['other nodes are not told which sessions have begun here'])
})

t.test('payloads that nobody of us has sent are passed over', async t => {
  const clock = new PostgresClock()
  const notices = openSessionNotices({ pool, id: 'one', secret, clock, others: () => 1, log: silentLog })
  const heard: unknown[] = []
  notices?.onBegun((...told) => void heard.push(told))
  notices?.heard('other\n1000\nname 5')
  t.strictSame(heard, [], 'before the clock is known')
  clock.note(performance.now(), 2_000)
  for (const payload of [
    '',
    'x',
    'other\nlong ago\nname 5',
    'other\n1000\nname',
    'other\n1000\nname x',
    'one\n1000\nname 5',
  ]) {
    notices?.heard(payload)
  }
  t.strictSame(heard, [])
  notices?.heard('other\n1000\nname 5')
  t.match(heard, [['name', Number]])
})
