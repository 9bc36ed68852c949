import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { test } from 'tap'
import { launch } from '../../store/process/server-process.ts'
import { temporaryFolder } from '../support/databases.ts'
import { waitFor } from '../support/wait-for.ts'

const code = `
  import { readlinkSync } from 'node:fs'
  import { parentPort, workerData } from 'node:worker_threads'
  const { lowerThreadPriority } = await import(workerData)
  lowerThreadPriority('below normal')
  parentPort.postMessage(Number(readlinkSync('/proc/thread-self').split('/').at(-1)))
  setInterval(() => undefined, 1000)
`

test('a thread has the priority that it asks for, and the others keep theirs', {
  skip: process.platform !== 'linux',
}, async t => {
  const before = getPriority()
  const moduleUrl = new URL('../../store/thread-priority.ts', import.meta.url).href
  const source = new URL(`data:text/javascript,${encodeURIComponent(code)}`)
  // As the pool starts its threads.
  const worker = new Worker(source, { workerData: moduleUrl, env: {}, execArgv: [] })
  t.teardown(() => worker.terminate())
  const [thread] = await once(worker, 'message')
  t.equal(getPriority(thread), constants.priority.PRIORITY_BELOW_NORMAL)
  const others = readdirSync('/proc/self/task').filter(other => Number(other) !== thread)
  t.ok(others.length > 1)
  t.strictSame(
    others.filter(other => getPriority(Number(other)) !== before),
    [],
  )
})

test('a server has its niceness also where the kernel schedules by sessions', {
  skip: !existsSync('/proc/self/autogroup'),
}, async t => {
  const folder = temporaryFolder(t)
  const server = launch({
    command: 'sleep',
    args: ['600'],
    recordPath: join(folder, 'process'),
    logPath: join(folder, 'server.log'),
    environment: { PATH: process.env['PATH'] },
    stopSteps: [{ signal: 'SIGKILL', waitMs: 5000 }],
    niceness: 5,
  })
  t.teardown(() => server.stop())
  await waitFor('it runs', () => getPriority(server.pid) === 5)
  t.match(readFileSync(`/proc/${server.pid}/autogroup`, 'utf8'), / nice 5\n/)
})
