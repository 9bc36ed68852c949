/** The demo as a process of its own. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { TestHooks } from './databases.ts'
import { until } from './processes.ts'

const root = resolve(import.meta.dirname, '..', '..')

export interface Demo {
  url: string
  child: ChildProcess
  output(): string
  exited: Promise<unknown[]>
  /** Resolves when the month of data points is stored. */
  caughtUp(): Promise<void>
}

/** As `npm run demo` starts it; resolves when it shows its address. */
export async function startDemo(t: TestHooks, dataDirectory: string): Promise<Demo> {
  const own = { DATA_DIR: dataDirectory, PORT: '0', TIME_ZONE: 'UTC', PARENT_PID: String(process.pid) }
  const environment = { ...process.env, ...own }
  const child = spawn(process.execPath, ['demo/demo.ts'], { cwd: root, env: environment })
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
  const caughtUp = () => until('the data points are stored', () => ['DEL-01', 'NBO-02'].every(isStored))
  return { url, child, output: () => output, exited, caughtUp }
}
