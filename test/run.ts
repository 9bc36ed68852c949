/** `npm test`: the checks, then every test with a line for each file, then one line with the count. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { watchParent } from '../service/parent.ts'
import { classArchiveOptions } from './support/class-archive.ts'

/**
 * The tests start QuestDB dozens of times and give it little to do. Half of what a start costs is the optimising
 * compiler, which pays off only later.
 */
const javaOptions = [process.env['JAVA_TOOL_OPTIONS'], '-XX:TieredStopAtLevel=1'].filter(Boolean).join(' ')
const environment: NodeJS.ProcessEnv = { ...process.env, JAVA_TOOL_OPTIONS: javaOptions }
let child: ChildProcess | undefined

async function run(command: string, ...commandArguments: string[]): Promise<boolean> {
  child = spawn(command, commandArguments, { stdio: 'inherit', env: environment })
  const [status] = await once(child, 'exit')
  return status === 0
}

/** The runner, which ends with us, as do the tests with it, and what they have started with them. */
function runTests(...tapArguments: string[]): Promise<boolean> {
  const [endWithParent, tap] = ['test/support/end-with-parent.ts', 'node_modules/.bin/tap'].map(path => resolve(path))
  return run(process.execPath, `--import=${endWithParent}`, `${tap}`, ...tapArguments)
}

/** The counts of tap's last line, such as `# { total: 41, pass: 40, fail: 1 }`. */
function readCounts(tapOutput: string): { pass: number; other: number } {
  const summary = tapOutput.match(/^# \{ total: (\d+)(?:, pass: (\d+))?.*\}$/m)
  const total = Number(summary?.[1] ?? 0)
  const pass = Number(summary?.[2] ?? 0)
  return { pass, other: total - pass }
}

const folder = mkdtempSync(join(tmpdir(), 'barograph-tap-'))
const outputFile = join(folder, 'output.tap')
process.once('exit', () => {
  child?.kill()
  rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
watchParent(process.ppid, () => process.exit(1))

// The pages first, for the tests are served what was built last.
if (!(await run('npm', 'run', '-s', 'build')) || !(await run('npm', 'run', '-s', 'check'))) {
  process.stdout.write('The build or the checks did not pass, so no test ran.\n0 passed, 1 failed\n')
  process.exitCode = 1
} else {
  environment['JAVA_TOOL_OPTIONS'] = `${javaOptions} ${await classArchiveOptions(environment)}`
  const passed = await runTests(
    '--reporter=./test/progress-reporter.ts',
    `--output-file=${outputFile}`,
    ...process.argv.slice(2),
  )
  const output = readFileSync(outputFile, 'utf8')
  const { pass, other } = readCounts(output)
  // A test that was skipped or marked as to do counts as failed: nothing here may be left out.
  const failed = passed ? other : Math.max(1, other)
  process.stdout.write(`${pass} passed, ${failed} failed\n`)
  process.exitCode = failed === 0 && pass > 0 ? 0 : 1
}
