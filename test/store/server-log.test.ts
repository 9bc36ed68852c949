/** A server that is started here: its log is bounded whatever happens around it, and it gives way to the service. */

import { existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { test } from 'tap'
import { logTail } from '../../store/process/server-log.ts'
import { launch, type ServerProcess } from '../../store/process/server-process.ts'
import { type TestHooks, temporaryFolder } from '../support/databases.ts'
import { waitFor } from '../support/wait-for.ts'

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

test('that the path of the log is gone ends nothing', async t => {
  const folder = join(temporaryFolder(t), 'gone')
  mkdirSync(folder)
  const server = launchIdle(t, folder)
  rmSync(folder, { recursive: true })
  t.doesNotThrow(() => mock.timers.tick(checkMs))
  t.equal(server.ended(), undefined)
  t.equal(logTail(join(folder, 'server.log'), 0), 'its log cannot be read (ENOENT)')
})

const skip = !existsSync('/proc/self/autogroup')

test('a server has its niceness also where the kernel schedules by sessions', { skip }, async t => {
  const server = launchIdle(t, temporaryFolder(t), 5)
  await waitFor('it runs', () => getPriority(server.pid) === 5)
  t.match(readFileSync(`/proc/${server.pid}/autogroup`, 'utf8'), / nice 5\n/)
})
