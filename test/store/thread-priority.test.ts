import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { test } from 'tap'

const code = `
  import { readlinkSync } from 'node:fs'
  import { parentPort, workerData } from 'node:worker_threads'
  const { lowerThreadPriority } = await import(workerData)
  lowerThreadPriority('below normal')
  parentPort.postMessage(Number(readlinkSync('/proc/thread-self').split('/').at(-1)))
  setInterval(() => undefined, 1000)
`

const skip = process.platform !== 'linux'

test('a thread has the priority that it asks for, and the others keep theirs', { skip }, async t => {
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
  t.ok(others.every(other => getPriority(Number(other)) === before))
})
