/** A thread that gives way does so alone. */

import { once } from 'node:events'
import { constants, getPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { test } from 'tap'

const code = `
  import { readlinkSync } from 'node:fs'
  import { parentPort, workerData } from 'node:worker_threads'
  const { giveWay } = await import(workerData)
  giveWay()
  parentPort.postMessage(Number(readlinkSync('/proc/thread-self').split('/').at(-1)))
  setInterval(() => undefined, 1000)
`

test('a thread gives way, and the others do not', { skip: process.platform !== 'linux' }, async t => {
  const before = getPriority()
  const giveWayUrl = new URL('../../query/give-way.ts', import.meta.url).href
  const source = new URL(`data:text/javascript,${encodeURIComponent(code)}`)
  const worker = new Worker(source, { workerData: giveWayUrl })
  t.teardown(() => worker.terminate())
  const [thread] = await once(worker, 'message')
  t.equal(getPriority(thread), Math.min(constants.priority.PRIORITY_LOW, before + 10))
  t.equal(getPriority(), before)
})
