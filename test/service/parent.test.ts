/** The service ends with whoever has started it, and whatever a killed test runner has started ends too. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Test, test } from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { familyOf, isRunning, parentOf, serverPid, until } from '../support/processes.ts'
import { withoutQuestdb } from '../support/service.ts'

const root = resolve(import.meta.dirname, '..', '..')

interface Started {
  child: ChildProcess
  dataDirectory: string
  output(): string
  /** The child, all that it has started, and their watchdogs. */
  pids(): number[]
}

/** Starts something that opens databases in the folder. */
function start(
  t: Test,
  command: string,
  words: readonly string[],
  settings: Record<string, string>,
  { dataDirectory = temporaryFolder(t) } = {},
): Started {
  // A runner in a runner would take over the settings of the outer one, its output file among them.
  const environment = Object.entries(process.env).filter(([name]) => name !== 'PARENT_PID' && !/^_?TAP/.test(name))
  const child = spawn(command, words, {
    cwd: root,
    env: { ...Object.fromEntries(environment), PORT: '0', TIME_ZONE: 'UTC', ...settings, DATA_DIR: dataDirectory },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  const family = () => familyOf(child.pid ?? 0)
  // A watchdog is in the group of its server, wherever it hangs.
  const pids = () => [...new Set(family().flatMap(familyOf))]
  t.teardown(() => {
    for (const pid of pids()) process.kill(pid, 'SIGKILL')
  })
  return { child, dataDirectory, output: () => output, pids }
}

async function startService(
  t: Test,
  command: string,
  words: readonly string[],
  settings: Record<string, string> = withoutQuestdb,
): Promise<Started> {
  const started = start(t, command, words, settings)
  const { child, output } = started
  await until('the service listens', () => /"msg":"listening"/.test(output()) || child.exitCode !== null)
  if (child.exitCode !== null) throw new Error(`it did not start: ${output()}`)
  return started
}

async function endsWith(t: Test, pid: number, signal: NodeJS.Signals, started: Started): Promise<void> {
  const pids = started.pids()
  t.ok(pids.length >= 3, 'the service, PostgreSQL and its watchdog run')
  // Should the test fail, nothing of it may stay.
  t.teardown(() => {
    for (const left of pids.filter(isRunning)) process.kill(left, 'SIGKILL')
  })
  process.kill(pid, signal)
  await until('nothing is left', () => !pids.some(isRunning))
}

const pidOf = ({ child }: Started): number => child.pid ?? 0
const servicePid = ({ dataDirectory }: Started): number => parentOf(serverPid({ path: dataDirectory }, 'postgres'))
/** Usually that is the shell which has become the service. */
const shellPid = (started: Started): number =>
  familyOf(pidOf(started)).find(pid => parentOf(pid) === pidOf(started)) ?? 0

// With QuestDB once; which of them gets the signal makes no difference to it.
for (const [who, find, settings] of [
  ['npm', pidOf, {}],
  ['the shell of npm', shellPid, withoutQuestdb],
  ['the service', servicePid, withoutQuestdb],
] as const) {
  test(`SIGTERM to ${who} ends all that npm start has started, in an orderly way`, async t => {
    const started = await startService(t, 'npm', ['start', '--silent'], settings)
    await endsWith(t, find(started), 'SIGTERM', started)
    await until('it says so', () => /"msg":"stopped"/.test(started.output()))
  })
}

test('the service stops in an orderly way when npm is killed', async t => {
  const started = await startService(t, 'npm', ['start', '--silent'])
  await endsWith(t, pidOf(started), 'SIGKILL', started)
  await until('it says so', () => /"reason":"the parent has ended".*"msg":"stopped"/s.test(started.output()))
})

test('a service that was started in the background outlives the shell that started it', async t => {
  const words = `${process.execPath} service/main.ts & read -r end`
  const dataDirectory = temporaryFolder(t)
  const shell = spawn('/bin/sh', ['-c', words], {
    cwd: root,
    env: { ...process.env, ...withoutQuestdb, PARENT_PID: '', PORT: '0', DATA_DIR: dataDirectory },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  shell.stdout.on('data', (text: Buffer) => (output += text.toString()))
  await until('the service listens', () => /"msg":"listening"/.test(output))
  const pid = parentOf(serverPid({ path: dataDirectory }, 'postgres'))
  t.teardown(async () => {
    process.kill(pid, 'SIGTERM')
    await until('it has ended', () => !isRunning(pid))
  })
  shell.stdin.end()
  await until('the shell has ended', () => parentOf(pid) !== shell.pid)
  const url = /"url":"([^"]+)"[^\n]*"msg":"listening"/.exec(output)?.[1]
  // Longer than it takes to see that a parent is gone.
  for (let asked = 0; asked < 20; asked++) {
    t.equal((await fetch(`${url}/health/live`)).status, 200)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
})

test('SIGTERM to the service as the first process of a container ends all, in an orderly way', async t => {
  const [command = '', ...words] = [...namespace(), process.execPath, 'service/main.ts']
  const started = await startService(t, command, words)
  const pid = command === process.execPath ? pidOf(started) : (familyOf(pidOf(started))[1] ?? 0)
  await endsWith(t, pid, 'SIGTERM', started)
  await until('it says so', () => /"msg":"stopped"/.test(started.output()))
})

/** How a process becomes number 1; where the system allows no namespaces, it runs as any other one. */
function namespace(): string[] {
  const ways = [
    ['unshare', '--pid', '--fork', '--mount-proc'],
    ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount-proc'],
  ]
  const isPossible = ([command = '', ...words]: string[]): boolean => {
    try {
      return execFileSync(command, [...words, '/bin/sh', '-c', 'echo $$'], { stdio: 'pipe' }).toString() === '1\n'
    } catch {
      return false
    }
  }
  return ways.find(isPossible) ?? []
}

test('what a test has started ends when the test runner is killed', async t => {
  const dataDirectory = temporaryFolder(t)
  const file = join(temporaryFolder(t), 'hold-store.test.ts')
  const hold = join(root, 'test/support/hold-store.ts')
  writeFileSync(file, `process.argv[2] = '${dataDirectory}'\nawait import('${hold}')\n`)
  const runner = join(root, 'test/test-files.ts')
  const program = `import { runTestFiles } from '${runner}'; await runTestFiles(['${file}'], process.env)`
  const started = start(t, process.execPath, ['--input-type=module', '--eval', program], {}, { dataDirectory })
  const { child, output } = started
  const isUp = () => existsSync(join(dataDirectory, 'questdb', 'process')) && started.pids().length >= 6
  await until('the databases run', () => isUp() || child.exitCode !== null)
  if (child.exitCode !== null) throw new Error(`the test runner ended: ${output()}`)
  await endsWith(t, pidOf(started), 'SIGKILL', started)
})
