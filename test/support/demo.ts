/** The demo as a process of its own. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { basicOf } from './air-quality.ts'
import type { TestHooks } from './databases.ts'
import { familyOf, isRunning, until } from './processes.ts'
import { runToEnd } from './run-program.ts'

const root = resolve(import.meta.dirname, '..', '..')

export type Demo = Awaited<ReturnType<typeof startDemo>>

/** Starts it like `npm run demo`. Resolves when it prints its address. */
export async function startDemo(t: TestHooks, dataDirectory: string) {
  const own = { DATA_DIR: dataDirectory, PORT: '0', TIME_ZONE: 'UTC', PARENT_PID: String(process.pid) }
  const environment = { ...process.env, ...own }
  const child = spawn(process.execPath, ['cli/demo/demo.ts'], { cwd: root, env: environment })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await exited
  })
  await until('the demo shows its address', () => output.includes('Ctrl-C stops all') || child.exitCode !== null)
  const url = /^Open in a browser: (\S+)\/$/m.exec(output)?.[1]
  if (url === undefined) throw new Error(`the demo did not start: ${output}`)
  const isStored = (sn: string) => output.includes(`data points of ${sn} are stored`)
  /** Resolves when the month of data points is stored. */
  const caughtUp = () => until('the data points are stored', () => ['DEL-01', 'NBO-02'].every(isStored))
  return { url, child, output: () => output, exited, caughtUp }
}

export async function json(url: string, key?: string): Promise<Record<string, unknown>> {
  const response = await fetch(url, key === undefined ? {} : { headers: { authorization: basicOf(key) } })
  return (await response.json()) as Record<string, unknown>
}

/** The blocks of shell commands in a section of a guide. */
export function commandsIn(file: string, section: string): string[] {
  const guide = readFileSync(join(root, file), 'utf8')
  const text = guide.split(/^## /m).find(each => each.startsWith(`${section}\n`)) ?? ''
  return [...text.matchAll(/^```\n(.*?)^```$/gms)].map(match => match[1] ?? '')
}

/** Runs commands of a guide after the demo's line, like a new user. Returns the answer of each curl. */
export async function runCommands(demo: { output(): string }, commands: string): Promise<string[]> {
  const settings = /^ *export PORT=.*$/m.exec(demo.output())?.[0]
  const curl = `curl() { command curl --silent --show-error --fail "$@"; printf '\\n==\\n'; }`
  const words = ['-u', 'PORT', '-u', 'DATA_DIR', 'sh', '-ec', `${settings}\n${curl}\n${commands}`]
  const { status, stdout, stderr } = await runToEnd('env', words, { folder: root, environment: process.env })
  if (status !== 0) throw new Error(stderr)
  return stdout.split('\n==\n').slice(0, -1)
}

export async function stopDemo(t: Test, demo: Demo): Promise<void> {
  const pids = familyOf(demo.child.pid ?? 0)
  t.ok(pids.length >= 4, 'the demo, the service and two databases are processes')
  demo.child.kill('SIGINT')
  t.strictSame(await demo.exited, [0, null])
  t.notOk(pids.some(isRunning), 'no process is left')
}
