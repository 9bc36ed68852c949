/** A port is dealt out once, for a server binds it only seconds after it was looked for. */

import { fork } from 'node:child_process'
import { test } from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { messageOf } from '../support/processes.ts'

/** Among 12,000 ports, so many chosen at random meet by far more often than not. */
const count = 400

test('two processes that look for ports at the same time get different ones', async t => {
  const other = fork(new URL('./take-ports.ts', import.meta.url), [String(count)])
  t.teardown(() => other.kill('SIGKILL'))
  const own = await Promise.all(Array.from({ length: count }, freePort))
  const others = await messageOf<number[]>(other)
  t.equal(new Set([...own, ...others]).size, 2 * count)
})
