/** The demo as a newcomer sees it: one command, history and live readings, Ctrl-C, and again. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { isRunning, until } from '../support/processes.ts'

const root = resolve(import.meta.dirname, '..', '..')

async function startDemo(t: Test, dataDirectory: string) {
  const environment = { ...process.env, DATA_DIR: dataDirectory, PORT: '0', TIME_ZONE: 'UTC' }
  const child = spawn(process.execPath, ['demo/demo.ts'], { cwd: root, env: environment })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()))
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGTERM')
    await exited
  })
  await until('the demo shows its addresses', () => output.includes('Ctrl-C stops all') || child.exitCode !== null)
  const url = /curl -s (\S+)\/api\/latest/.exec(output)?.[1]
  if (url === undefined) throw new Error(`the demo did not start: ${output}`)
  return { url, child, output: () => output, exited }
}

async function json(url: string): Promise<Record<string, unknown>> {
  return (await (await fetch(url)).json()) as Record<string, unknown>
}

/** The service and the databases below it. */
function descendants(child: ChildProcess): number[] {
  const found = [child.pid ?? 0]
  for (const pid of found) {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    if (children !== '') found.push(...children.split(' ').map(Number))
  }
  return found
}

t.test('history and live readings are there, and a second run goes on where the first one stopped', async t => {
  const dataDirectory = join(temporaryFolder(t), 'data')
  const first = await startDemo(t, dataDirectory)
  // Lines of the service's log may stand between these.
  t.match(first.output(), '8 devices were registered.')
  t.match(first.output(), '18960 readings of history were imported.')
  t.match(first.output(), '400 content files were imported')
  t.match(await json(`${first.url}/api/v1/contentfiles/?limit=1`), { count: Number, results: [{ run_id: Number }] })
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const day = await json(`${first.url}/api/data/day/greensboro/${yesterday}`)
  t.equal((day['pressure'] as unknown[]).length, 24, 'an hourly record has a value for each hour of yesterday')
  t.match(await json(`${first.url}/api/device/mountain-hut`), { location_short: 'Mountain hut', battery: true })
  const today = () => json(`${first.url}/api/data/day/kitchen/${new Date().toISOString().slice(0, 10)}`)
  await until('a live reading shows', async () => ((await today())['humidity'] as unknown[]).length > 0)
  const latest = await json(`${first.url}/api/latest/all/72`)
  t.equal((latest['data'] as unknown[]).length, 8)

  await stopDemo(t, first)
  t.equal(statSync(join(dataDirectory, 'demo', 'state.json')).mode & 0o777, 0o600)

  const second = await startDemo(t, dataDirectory)
  const imported = /(\d+) readings of history/.exec(second.output())?.[1]
  t.ok(Number(imported) < 1000, `${imported} readings fill the gap`)
  t.match(second.output(), /The devices of the last run go on/)
  t.match(second.output(), /^0 content files were imported/m)
  t.match(await (await fetch(`${second.url}/metrics`)).text(), /^barograph_devices 8$/m)
  await stopDemo(t, second)
})

async function stopDemo(t: Test, demo: Awaited<ReturnType<typeof startDemo>>): Promise<void> {
  const pids = descendants(demo.child)
  t.ok(pids.length >= 4, 'the demo, the service and two databases are processes')
  demo.child.kill('SIGINT')
  t.strictSame(await demo.exited, [0, null])
  t.notOk(pids.some(isRunning), 'no process is left')
}
