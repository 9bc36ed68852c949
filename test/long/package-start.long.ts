/** The package as others get it: packed, installed from the tarball in another place, and started there. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { sampleLines } from '../support/sample-content-files.ts'
import { startService } from '../support/service.ts'
import { asFromShell, installPackage, pack, runOutside } from './package.ts'

const root = resolve(import.meta.dirname, '..', '..')
const base = temporaryFolder(t)
let command = ''

t.before(async () => {
  command = await installPackage(await pack(base), join(base, 'elsewhere'))
})

t.test('the command line works, from any folder', async t => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  t.match(await runOutside([command, '--version'], base), { status: 0, stdout: `${version}\n`, stderr: '' })
  t.match(await runOutside([command, 'start', '--help'], base), { status: 0, stdout: 'DATA_DIR', stderr: '' })
})

t.test('the service starts, and every kind of thread finds its program', async t => {
  const dataDirectory = join(base, 'data')
  const service = await startService(t, { dataDirectory, command: [...asFromShell, command, 'start'] })
  const password = await service.addDevice('kitchen')
  const reading = { device: 'kitchen', temperature: 20, humidity: 50, pressure: 1000 }
  t.equal((await service.put('kitchen', password, reading)).status, 200)
  await service.import(`device,timestamp,temperature,humidity,pressure\nkitchen,${Date.now() - 60_000},20,50,1000\n`)
  const lines = join(base, 'files.ndjson')
  writeFileSync(lines, `${JSON.stringify(sampleLines[1])}\n`)
  const words = [command, '--url', service.url, 'content-files', 'import', lines]
  const imported = await runOutside(words, base, { DATA_DIR: dataDirectory })
  t.match(imported, { status: 0 }, imported.stderr)

  const json = async (path: string) => (await (await fetch(`${service.url}${path}`)).json()) as Record<string, unknown>
  await until('a reading shows', async () => {
    const { humidity } = await json(`/api/data/day/kitchen/${new Date().toISOString().slice(0, 10)}`)
    return Array.isArray(humidity) && humidity.length > 0
  })
  t.match(await json('/api/latest/all/24'), { data: [{ device: 'kitchen' }] })
  t.equal((await fetch(`${service.url}/api/stats_data/kitchen`)).status, 200)
  t.match(await json('/api/v1/contentfiles/'), { count: 1 })
  const page = await (await fetch(`${service.url}/`)).text()
  const script = /src="\.(\/assets\/[^"]+)"/.exec(page)?.[1]
  t.equal((await fetch(`${service.url}${script}`)).status, 200, 'the web pages are there')
  for (const path of ['/docs', '/docs/statistics', '/docs/images/fleet.png', '/docs/api/logger/log_reading']) {
    t.equal((await fetch(`${service.url}${path}`)).status, 200, path)
  }
  t.equal(await service.end('SIGTERM'), 0)
})
