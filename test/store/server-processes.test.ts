/** Servers that the store starts: their ports, logs, priorities and programs. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { Worker } from 'node:worker_threads'
import { test } from 'tap'
import { binariesIn, postgresBinaries } from '../../store/postgres/postgres-cluster.ts'
import { freePort } from '../../store/process/free-port.ts'
import { logTail } from '../../store/process/server-log.ts'
import { launch, type ServerProcess } from '../../store/process/server-process.ts'
import { type TestHooks, temporaryFolder } from '../support/databases.ts'
import { messageOf } from '../support/processes.ts'
import { waitFor } from '../support/wait-for.ts'

/** So many of 12,000 ports chosen at random have two equal ones by far more often than not. */
const count = 400

test('two processes that look for ports at the same time get different ones', async t => {
  const other = fork(new URL('./take-ports.ts', import.meta.url), [String(count)])
  t.teardown(() => other.kill('SIGKILL'))
  const own = await Promise.all(Array.from({ length: count }, freePort))
  const others = await messageOf<number[]>(other)
  t.equal(new Set([...own, ...others]).size, 2 * count)
})

const checkMs = 60_000
const bytesMax = 16 * 1024 * 1024

/** A server that does nothing, and time that passes on request. */
function launchIdle(t: TestHooks, folder: string, niceness = 0): ServerProcess {
  mock.timers.enable({ apis: ['setInterval'] })
  const server = launch({
    command: 'sleep',
    args: ['600'],
    recordPath: join(folder, 'process'),
    logPath: join(folder, 'server.log'),
    environment: { PATH: process.env['PATH'] },
    stopSteps: [{ signal: 'SIGKILL', waitMs: 5000 }],
    niceness,
  })
  t.teardown(async () => {
    mock.timers.reset()
    await server.stop()
  })
  return server
}

test('a log that has grown over its bound is emptied', async t => {
  const folder = temporaryFolder(t)
  launchIdle(t, folder)
  const path = join(folder, 'server.log')
  truncateSync(path, bytesMax)
  mock.timers.tick(checkMs)
  t.equal(statSync(path).size, bytesMax)
  truncateSync(path, bytesMax + 1)
  mock.timers.tick(checkMs)
  t.equal(statSync(path).size, 0)
})

test('a missing path of the log ends nothing', async t => {
  const folder = join(temporaryFolder(t), 'gone')
  mkdirSync(folder)
  const server = launchIdle(t, folder)
  rmSync(folder, { recursive: true })
  t.doesNotThrow(() => mock.timers.tick(checkMs))
  t.equal(server.ended(), undefined)
  t.equal(logTail(join(folder, 'server.log'), 0), 'its log cannot be read (ENOENT)')
})

const withoutSessions = !existsSync('/proc/self/autogroup')

test('a server has its niceness also where the kernel schedules by sessions', { skip: withoutSessions }, async t => {
  const server = launchIdle(t, temporaryFolder(t), 5)
  await waitFor('it runs', () => getPriority(server.pid) === 5)
  t.match(readFileSync(`/proc/${server.pid}/autogroup`, 'utf8'), / nice 5\n/)
})

const code = `
  import { readlinkSync } from 'node:fs'
  import { parentPort, workerData } from 'node:worker_threads'
  const { lowerThreadPriority } = await import(workerData)
  lowerThreadPriority('below normal')
  parentPort.postMessage(Number(readlinkSync('/proc/thread-self').split('/').at(-1)))
  setInterval(() => undefined, 1000)
`

const withoutThreads = process.platform !== 'linux'

test('a thread gets its requested priority without effect on others', { skip: withoutThreads }, async t => {
  const before = getPriority()
  const moduleUrl = new URL('../../store/thread-priority.ts', import.meta.url).href
  const source = new URL(`data:text/javascript,${encodeURIComponent(code)}`)
  // The pool starts its threads this way.
  const worker = new Worker(source, { workerData: moduleUrl, env: {}, execArgv: [] })
  t.teardown(() => worker.terminate())
  const [thread] = await once(worker, 'message')
  t.equal(getPriority(thread), constants.priority.PRIORITY_BELOW_NORMAL)
  const others = readdirSync('/proc/self/task').filter(other => Number(other) !== thread)
  t.ok(others.length > 1)
  t.ok(others.every(other => getPriority(Number(other)) === before))
})

test('a package whose install script did not run is reported with the remedy', async t => {
  const folder = temporaryFolder(t)
  for (const name of ['bin', 'lib']) mkdirSync(join(folder, 'native', name), { recursive: true })
  for (const name of ['bin/initdb', 'bin/postgres', 'lib/libpq.so.5.18'])
    writeFileSync(join(folder, 'native', name), '')
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' }]
  writeFileSync(join(folder, 'native', 'pg-symlinks.json'), JSON.stringify(links))
  const message = /install script of the PostgreSQL package did not run: run "script\/npm ci" again .*DATABASE_URL/
  t.throws(() => binariesIn(folder), { name: 'StartError', message })
  symlinkSync('libpq.so.5.18', join(folder, 'native', 'lib', 'libpq.so.5'))
  t.equal(binariesIn(folder).postgres, join(folder, 'native', 'bin', 'postgres'))
})

test('the installed package is whole', async t => {
  t.match(postgresBinaries().postgres, /native\/bin\/postgres$/)
})
