/**
 * `npm test`: the checks, then every test with a line for each file, then one line with the count. Arguments are files and
 * folders: `npm test test/api`. `--busy` loads the machine, which finds tests that depend on its speed.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { prepareKafka } from '../cli/demo/cluster/kafka-cluster.ts'
import { watchParent } from '../service/parent.ts'
import { busyOptions, keepBusy } from './support/busy.ts'
import { testCacheDirectory } from './support/cache-directory.ts'
import { silentLog } from './support/databases.ts'
import { javaOptions } from './support/java-options.ts'
import { runTestFiles } from './test-files.ts'

const environment: NodeJS.ProcessEnv = {
  ...process.env,
  // The cache of the service, which compiles the same modules.
  NODE_COMPILE_CACHE: join(testCacheDirectory(), 'compiled'),
}
const { values, positionals } = parseArgs({
  options: { busy: { type: 'boolean', default: false } },
  allowPositionals: true,
})
let child: ChildProcess | undefined

async function run(command: string, ...commandArguments: string[]): Promise<boolean> {
  child = spawn(command, commandArguments, { stdio: 'inherit', env: environment })
  const [status] = await once(child, 'exit')
  return status === 0
}

process.once('exit', () => child?.kill())
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
watchParent(process.ppid, () => process.exit(1))

// The pages come first, since the tests serve the last build.
if (!(await run('npm', 'run', '-s', 'build')) || !(await run('npm', 'run', '-s', 'check'))) {
  process.stdout.write('The build or the checks did not pass, so no test ran.\n0 passed, 1 failed\n')
  process.exitCode = 1
} else {
  environment['JAVA_TOOL_OPTIONS'] = await javaOptions(environment)
  // No test should wait for a download.
  await prepareKafka({ cacheDirectory: testCacheDirectory(), environment, log: silentLog })
  if (values.busy) keepBusy()
  const { pass, fail } = await runTestFiles(positionals, environment, values.busy ? busyOptions : [])
  process.stdout.write(`${pass} passed, ${fail} failed\n`)
  process.exitCode = fail === 0 && pass > 0 ? 0 : 1
}
