/** One process at a time forwards a replica through any fault of it, its connection or PostgreSQL. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { postgresUrl } from '../../cli/demo/cluster/database-settings.ts'
import { acquireReplica, type HeldReplica, type ReplicaLockOptions } from '../../ingest/kafka/state/lock.ts'
import { readUnforwarded } from '../../ingest/kafka/state/rows.ts'
import { createReplicaState } from '../../ingest/kafka/state/state.ts'
import { Hold, holdMs } from '../../store/postgres/held-lock.ts'
import { nowhere, recordingLog, silentLog, startDatabases, temporaryFolder } from '../support/databases.ts'
import { freeze, freezeProcess } from '../support/frozen.ts'
import { messageOf, serverPid, until } from '../support/processes.ts'

const { store, directory } = await startDatabases(t, nowhere)

const names: string[] = []
/** Each name has its own replica. */
function numberOf(name: string): number {
  if (!names.includes(name)) names.push(name)
  return names.indexOf(name) + 1
}

function optionsOf(name: string, holder: string, more: Partial<ReplicaLockOptions> = {}): ReplicaLockOptions {
  return { replica: numberOf(name), holder, connect: () => store.connectPostgres(), log: silentLog, ...more }
}

async function acquire(
  t: Test,
  options: ReplicaLockOptions,
  signal = new AbortController().signal,
): Promise<HeldReplica> {
  const held = await acquireReplica(options, signal)
  t.teardown(() => held.release())
  return held
}

/** The session that holds the lock of a replica. */
async function holderPid(): Promise<number> {
  const { rows } = await store.postgres.query<{ pid: number }>(
    "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2",
  )
  if (rows.length !== 1) throw new Error(`${rows.length} replicas are held`)
  return rows[0]?.pid ?? 0
}

t.test('one of two contenders gets the replica, the other one after its release', async t => {
  const unforwarded = () => readUnforwarded(store.postgres, [numberOf('two'), numberOf('another replica')])
  t.strictSame(await unforwarded(), [1, 2], 'before the first forwarder')
  const first = await acquire(t, optionsOf('two', 'a'))
  t.strictSame(await unforwarded(), [2])
  t.equal(first.isHeld(), true)
  t.match(first, { predecessor: undefined, waitMs: 0 })
  const { log, texts } = recordingLog('info')
  let isSecond = false
  const second = acquire(t, optionsOf('two', 'b', { log })).then(held => {
    isSecond = true
    return held
  })
  await until('it stands by', () => texts.length > 0)
  t.strictSame(texts, ['replica held by another process, standing by'])
  t.equal(isSecond, false)
  const other = await acquire(t, optionsOf('another replica', 'b'))
  t.equal(other.epoch, 1, 'replicas do not wait for each other')
  await other.release()
  t.strictSame(await unforwarded(), [2])
  await first.release()
  t.equal(first.isHeld(), false)
  const held = await second
  t.match(held, { epoch: first.epoch + 1, predecessor: undefined, waitMs: 0, replica: numberOf('two'), holder: 'b' })
  t.equal(held.isHeld(), true)
  t.equal(texts.filter(text => /standing by/.test(text)).length, 1, 'the wait is logged once')
  first.onLost(() => t.fail('what was given back is not lost'))
  await first.release()
})

t.test('a holder whose connection is cut is notified, as is its successor', async t => {
  const first = await acquire(t, optionsOf('cut', 'a'))
  const lost = new Promise<string>(resolve => first.onLost(resolve))
  const second = acquire(t, optionsOf('cut', 'b'))
  await store.postgres.query('SELECT pg_terminate_backend($1)', [await holderPid()])
  t.match(await lost, /PostgreSQL/)
  t.equal(first.isHeld(), false)
  t.match(await second, { epoch: first.epoch + 1, predecessor: 'a', waitMs: holdMs })
  t.match(await new Promise(resolve => first.onLost(resolve)), /PostgreSQL/, 'a late listener is notified, too')
  await first.release()
  t.equal((await second).isHeld(), true)
})

t.test('a contender whose connection is cut connects again', async t => {
  const first = await acquire(t, optionsOf('again', 'a'))
  const sessions: pg.Client[] = []
  const connect = async () => {
    const client = await store.connectPostgres()
    sessions.push(client)
    return client
  }
  const { log, texts } = recordingLog('info')
  const second = acquire(t, optionsOf('again', 'b', { connect, log }))
  await until('it stands by', () => texts.length > 0)
  const { processID } = sessions[0] as pg.Client & { processID: number }
  await store.postgres.query('SELECT pg_terminate_backend($1)', [processID])
  await until('it has another session', () => sessions.length > 1)
  await first.release()
  t.equal((await second).isHeld(), true)
})

t.test('waiting ends with the signal', async t => {
  const first = await acquire(t, optionsOf('aborted', 'a'))
  const { log, texts } = recordingLog('info')
  const giveUp = new AbortController()
  const second = acquireReplica(optionsOf('aborted', 'b', { log }), giveUp.signal)
  await until('it stands by', () => texts.length > 0)
  giveUp.abort()
  await t.rejects(second, { name: 'AbortError' })
  await first.release()
  await acquire(t, optionsOf('aborted', 'c'))
})

t.test('permanent errors are thrown', async t => {
  const connect = async () => {
    const client = await store.connectPostgres()
    await client.query('SET ROLE pg_monitor')
    return client
  }
  const { signal } = new AbortController()
  await t.rejects(acquireReplica(optionsOf('denied', 'a', { connect }), signal), { code: '42501' })
})

t.test('a frozen holder loses the replica and detects the loss when it resumes', async t => {
  const successor = join(temporaryFolder(t), 'successor')
  const words = [postgresUrl(store.postgres), String(numberOf('frozen')), successor]
  const child = fork(new URL('./hold-replica.ts', import.meta.url), words)
  t.teardown(() => child.kill('SIGKILL'))
  t.equal(await messageOf(child), true)
  freezeProcess(child.pid ?? 0)
  const second = await acquire(t, optionsOf('frozen', 'b'))
  t.equal(second.predecessor, 'child')
  writeFileSync(successor, '')
  child.kill('SIGCONT')
  t.equal(await messageOf(child), false)
  t.equal(second.isHeld(), true)
})

t.test('a frozen PostgreSQL grants no replica', async t => {
  const first = await acquire(t, optionsOf('stopped', 'a'))
  const lost = new Promise<string>(resolve => first.onLost(resolve))
  const goOn = freeze(serverPid(directory, 'postgres'))
  t.teardown(goOn)
  t.match(await lost, /did not answer a heartbeat/)
  t.equal(first.isHeld(), false)
  const again = acquire(t, optionsOf('stopped', 'a'))
  goOn()
  t.match(await again, { epoch: first.epoch + 1, predecessor: 'a' })
})

t.test('after a restart of PostgreSQL the replica is taken again', async t => {
  const first = await acquire(t, optionsOf('restarted', 'a'))
  const lost = new Promise<string>(resolve => first.onLost(resolve))
  process.kill(serverPid(directory, 'postgres'), 'SIGKILL')
  t.match(await lost, /PostgreSQL/)
  t.match(await acquire(t, optionsOf('restarted', 'b')), { epoch: first.epoch + 1, predecessor: 'a' })
})

t.test('threads see how long the replica is held', async t => {
  const { hold } = await acquire(t, optionsOf('threads', 'a'))
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads')
     const asked = import(workerData.module).then(({ Hold }) => new Hold(workerData.shared))
     parentPort.on('message', async () => parentPort.postMessage((await asked).isHeld()))`,
    {
      eval: true,
      workerData: {
        shared: hold.shared,
        module: new URL('../../store/postgres/held-lock.ts', import.meta.url).href,
      },
    },
  )
  t.teardown(() => worker.terminate())
  const isHeld = async () => {
    worker.postMessage('?')
    return (await once(worker, 'message'))[0]
  }
  t.equal(await isHeld(), true)
  hold.end()
  t.equal(await isHeld(), false)
  t.equal(new Hold().isHeld(), false, 'nothing is held at the beginning')
})

t.test('a commit is refused after a takeover of the replica', async t => {
  const tables = new Map()
  const first = await acquire(t, optionsOf('fenced', 'a'))
  const state = createReplicaState({ pool: store.postgres, tenure: first, tables })
  await state.commit('fenced-readings', 7, [])
  await store.postgres.query('SELECT pg_terminate_backend($1)', [await holderPid()])
  const second = await acquire(t, optionsOf('fenced', 'b'))
  await t.rejects(state.commit('fenced-readings', 9, []), {
    name: 'LostReplica',
    message: /taken over .* after epoch 1$/,
  })
  const next = createReplicaState({ pool: store.postgres, tenure: second, tables })
  t.strictSame(await next.load('fenced-readings'), { offset: 7, tombstones: [] })
  await next.commit('fenced-readings', 8, [])
  t.equal((await next.load('fenced-readings')).offset, 8)
})
