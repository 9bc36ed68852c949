/** The first minute of the demo for a new user: one command, history, live readings, the README, Ctrl-C. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../../support/databases.ts'
import { commandsIn, json, runCommands, startDemo, stopDemo } from '../../support/demo.ts'
import { until } from '../../support/processes.ts'
import { runToEnd } from '../../support/run-program.ts'

t.test("history and live readings exist, as the README's commands show", async t => {
  const demo = await startDemo(t, join(temporaryFolder(t), 'data'))
  // Lines of the service's log may stand between these.
  t.match(demo.output(), '8 devices were registered.')
  t.equal([...demo.output().matchAll(/brought up to date/g)].length, 1, 'one line for all migrations')
  t.strictSame(demo.output().match(/^.*(?:Sign in as|setup).*$/gm)?.length, 1, 'one way in')
  t.match(demo.output(), '400 content files were imported')
  await until('all devices are shown', async () => {
    const { data } = await json(`${demo.url}/api/latest/all/72`)
    return (data as unknown[] | undefined)?.length === 8
  })
  const today = () => json(`${demo.url}/api/data/day/kitchen/${new Date().toISOString().slice(0, 10)}`)
  await until(
    'a live reading shows',
    async () => ((await today())['humidity'] as unknown[] | undefined)?.[0] !== undefined,
  )
  await showsFirstReadings(t, demo)
  await stopDemo(t, demo)
})

/** Follows the README from a new device to its reading in an answer. */
async function showsFirstReadings(t: Test, demo: { url: string; output(): string }): Promise<void> {
  await until('QuestDB is up', async () => (await json(`${demo.url}/health/ready`))['status'] === 'ok')
  const [add = '', send = ''] = commandsIn('README.md', 'A reading in')
  const [read = ''] = commandsIn('README.md', 'Readings out')
  const settings = /^URL=.*$/m.exec(add)?.[0]
  const [added = ''] = await runCommands(demo, `${add}curl $URL/health/live`)
  const { password } = JSON.parse(/^\{.*\}$/m.exec(added)?.[0] ?? '')
  const [sent] = await runCommands(demo, `${settings}\n${send.replace('PASSWORD', password)}`)
  t.match(sent, '"status":"success"')
  // A reading of the minute before midnight is not of today.
  const since = new Date(Date.now() - 3_600_000).toISOString()
  await until('the reading is shown', async () => {
    const response = await fetch(`${demo.url}/api/readings/porch?start=${since}&format=csv`)
    return (await response.text()).includes('porch,21.4,')
  })
  const commands = read.replace('$(date -u +%FT00:00Z)', since)
  const [csv, fleet, stats, ...others] = await runCommands(demo, `${settings}\n${commands}`)
  t.strictSame(others, [])
  t.match(csv, /^timestamp,device,[^\n]*\r\n[^,]+,porch,21\.4,/)
  t.match(fleet, '"location_short":"Porch"')
  t.match(stats, '"freshness"')
}

t.test('a cluster that cannot start ends with its reason and status 1', async t => {
  const dataDirectory = temporaryFolder(t)
  mkdirSync(join(dataDirectory, 'cluster'))
  writeFileSync(join(dataDirectory, 'cluster', 'kafka'), 'a file in place of the folder of the brokers')
  const environment = { ...process.env, DATA_DIR: dataDirectory, PORT: '0' }
  const ended = await runToEnd(process.execPath, ['cli/demo/demo.ts', '--cluster'], {
    folder: resolve(import.meta.dirname, '..', '..', '..'),
    environment,
  })
  t.match(ended, { status: 1, stderr: /EEXIST.*kafka/ })
})
