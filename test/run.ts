/**
 * `npm test`: the checks, then every test with a line for each file, then one line with the count. Words are files and folders:
 * `npm test test/api`. With `--busy` the machine is made busy, which finds tests that depend on how fast it is.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { prepareKafka } from '../cli/demo/cluster/kafka-cluster.ts'
import { watchParent } from '../service/parent.ts'
import { busyOptions, keepBusy } from './support/busy.ts'
import { testCacheDirectory } from './support/cache-directory.ts'
import { classArchiveOptions } from './support/class-archive.ts'
import { silentLog } from './support/databases.ts'
import { runTestFiles } from './test-files.ts'

/**
 * The tests start QuestDB dozens of times and give it little to do. Half of what a start costs is the optimising
 * compiler, which pays off only later; and of the rest, a quarter are two collections of garbage that QuestDB asks for.
 */
const cheapStart = '-XX:TieredStopAtLevel=1 -XX:+DisableExplicitGC'
const javaOptions = [process.env['JAVA_TOOL_OPTIONS'], cheapStart].filter(Boolean).join(' ')
const environment: NodeJS.ProcessEnv = {
  ...process.env,
  JAVA_TOOL_OPTIONS: javaOptions,
  // That of the service, which compiles the same modules.
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

// The pages first, for the tests are served what was built last.
if (!(await run('npm', 'run', '-s', 'build')) || !(await run('npm', 'run', '-s', 'check'))) {
  process.stdout.write('The build or the checks did not pass, so no test ran.\n0 passed, 1 failed\n')
  process.exitCode = 1
} else {
  environment['JAVA_TOOL_OPTIONS'] = `${javaOptions} ${await classArchiveOptions(environment)}`
  // So that no test waits for a download.
  await prepareKafka({ cacheDirectory: testCacheDirectory(), environment, log: silentLog })
  if (values.busy) keepBusy()
  const { pass, fail } = await runTestFiles(positionals, environment, values.busy ? busyOptions : [])
  process.stdout.write(`${pass} passed, ${fail} failed\n`)
  process.exitCode = fail === 0 && pass > 0 ? 0 : 1
}
