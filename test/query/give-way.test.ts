/** A thread that gives way does so with V8's helpers alone. */

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { test } from 'tap'

/** `SCHED_IDLE`, and the place of a thread's policy in its line of `/proc` behind its name (see proc(5), field 41). */
const idlePolicy = '5'
const policyPlace = 38

function policyOf(thread: number): string | undefined {
  const line = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
  return line.slice(line.lastIndexOf(')') + 2).split(' ')[policyPlace]
}

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
  // As the pool starts its threads: without an environment, so without a search path.
  const worker = new Worker(source, { workerData: giveWayUrl, env: {}, execArgv: [] })
  t.teardown(() => worker.terminate())
  const [thread] = await once(worker, 'message')
  t.equal(getPriority(thread), constants.priority.PRIORITY_LOW)
  t.equal(getPriority(), before)
  if (spawnSync('chrt', ['--help']).error === undefined) t.equal(policyOf(thread), idlePolicy, 'only in idle time')
  t.not(policyOf(process.pid), idlePolicy)
  const others = readdirSync('/proc/self/task').filter(other => Number(other) !== thread)
  const nameOf = (other: string) => readFileSync(`/proc/self/task/${other}/comm`, 'utf8').trim()
  const helpers = others.filter(other => nameOf(other) === 'V8Worker')
  t.ok(helpers.length > 0, 'they are called so')
  const niceThreads = others.filter(other => getPriority(Number(other)) !== before)
  t.strictSame(niceThreads, before === constants.priority.PRIORITY_LOW ? [] : helpers)
})
