/** The package as others get it: packed, installed from the tarball in another place, and started there. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { runToEnd } from '../support/run-program.ts'
import { sampleLines } from '../support/sample-content-files.ts'
import { startService } from '../support/service.ts'

const root = resolve(import.meta.dirname, '..', '..')
/** Without what npm tells the scripts of this package, and without what tap loads into every Node that its tests start. */
const foreign = Object.keys(process.env).filter(name => name.startsWith('npm_') || name === 'NODE_OPTIONS')
const outside = foreign.flatMap(name => ['-u', name])

function run(program: string, words: string[], folder: string, environment: Record<string, string> = {}) {
  return runToEnd('env', [...outside, program, ...words], { folder, environment: { ...process.env, ...environment } })
}

async function npm(folder: string, ...words: string[]): Promise<string> {
  const { status, stdout, stderr } = await run('npm', words, folder)
  if (status !== 0) throw new Error(`npm ${words.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

const base = temporaryFolder(t)
const elsewhere = join(base, 'elsewhere')
const command = join(elsewhere, 'node_modules', '.bin', 'barograph')

t.before(async () => {
  const packed = JSON.parse(await npm(root, 'pack', '--json', '--pack-destination', base))
  // A list, or with a newer npm an object by package.
  const [{ filename }] = Object.values(packed) as [{ filename: string }]
  mkdirSync(elsewhere)
  writeFileSync(join(elsewhere, 'package.json'), '{ "private": true }')
  await npm(elsewhere, 'install', '--prefer-offline', '--no-audit', '--no-fund', '--omit=dev', join(base, filename))
})

t.test('the command line works, from any folder', async t => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  t.match(await run(command, ['--version'], base), { status: 0, stdout: `${version}\n`, stderr: '' })
  t.match(await run(command, ['start', '--help'], base), { status: 0, stdout: 'DATA_DIR', stderr: '' })
})

t.test('the service starts, and every kind of thread finds its program', async t => {
  const dataDirectory = join(base, 'data')
  const service = await startService(t, { dataDirectory, command: ['env', ...outside, command, 'start'] })
  const password = await service.addDevice('kitchen')
  const reading = { device: 'kitchen', temperature: 20, humidity: 50, pressure: 1000 }
  t.equal((await service.put('kitchen', password, reading)).status, 200)
  await service.import(`device,timestamp,temperature,humidity,pressure\nkitchen,${Date.now() - 60_000},20,50,1000\n`)
  const lines = join(base, 'files.ndjson')
  writeFileSync(lines, `${JSON.stringify(sampleLines[1])}\n`)
  const words = ['--url', service.url, 'content-files', 'import', lines]
  const imported = await run(command, words, base, { DATA_DIR: dataDirectory })
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
  t.equal(await service.end('SIGTERM'), 0)
})
