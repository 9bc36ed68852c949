/**
 * The cost of authentication, and of logins for other requests. Session cookies against the decoder of `@auth/core`.
 * API keys against the same route without a check, with few and many accounts. Readings during a hundred logins
 * against the same load without them. A login against the bare hash.
 *
 * Usage: node bench/auth.ts [accounts with a key each] [connections] [pairs] [seconds]
 */

import { measureChecks } from './auth-checks.ts'
import { measureLogins } from './auth-logins.ts'
import { startBench } from './bounds.ts'
import { startProcess, stopProcess } from './measure.ts'

const accounts = Number(process.argv[2] ?? 1_000_000)
const connections = Number(process.argv[3] ?? 64)
const pairs = Number(process.argv[4] ?? 5)
const seconds = Number(process.argv[5] ?? 4)

const { hooks, bounds, run } = startBench()

await run(async () => {
  const generator = startProcess('load-generator.ts')
  hooks.teardown(() => stopProcess(generator))
  const plan = { hooks, bounds, generator, connections, pairs, seconds }
  await measureLogins(plan)
  await measureChecks(plan, accounts)
  bounds.conclude({ bench: 'auth', accounts, connections, pairs, seconds })
})
