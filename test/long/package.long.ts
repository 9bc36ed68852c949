/**
 * The published package: packed, installed from the tarball elsewhere, and started under each supported major version of Node with
 * its npm.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { type ProgramRun, runToEnd } from '../support/run-program.ts'
import { sampleLines } from '../support/sample-content-files.ts'
import { startService } from '../support/service.ts'

const versions = [
  { node: '18.20.8', npm: '10.8.2' },
  { node: '20.20.2', npm: '10.8.2' },
  { node: '22.22.3', npm: '10.9.8' },
  { node: '24.21.0', npm: '11.19.1' },
]
const root = resolve(import.meta.dirname, '..', '..')

/** Removes variables that npm sets for scripts, and the options that tap sets for Node. */
const foreign = Object.keys(process.env).filter(name => name.startsWith('npm_') || name === 'NODE_OPTIONS')
/** A prefix with which a command runs as from a shell. */
const asFromShell = ['env', ...foreign.flatMap(name => ['-u', name])] as [string, ...string[]]

type Environment = Record<string, string>

function runOutside(words: readonly string[], folder: string, environment: Environment = {}): Promise<ProgramRun> {
  const [program, ...more] = [...asFromShell, ...words]
  return runToEnd(program ?? '', more, { folder, environment: { ...process.env, ...environment } })
}

async function npm(words: readonly string[], folder: string, environment: Environment = {}): Promise<string> {
  const { status, stdout, stderr } = await runOutside(['npm', ...words], folder, environment)
  if (status !== 0) throw new Error(`npm ${words.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

const base = temporaryFolder(t)
const packed = JSON.parse(await npm(['pack', '--json', '--pack-destination', base], root))
// An array, or an object by package in newer versions of npm.
const [{ filename }] = Object.values(packed) as [{ filename: string }]
const { version: packageVersion } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

for (const version of versions) {
  t.test(`Node ${version.node} with npm ${version.npm}: the service and every kind of thread start`, async t => {
    const folder = temporaryFolder(t)
    await npm(['install', '--prefix', folder, `node@${version.node}`, `npm@${version.npm}`], folder)
    const folders = [join(folder, 'node_modules', 'node', 'bin'), join(folder, 'node_modules', '.bin')]
    const environment = { PATH: [...folders, process.env['PATH']].join(delimiter) }
    const run = (...words: string[]) => runOutside(words, folder, environment)
    t.match(await run('node', '--version'), { stdout: `v${version.node}\n` })
    t.match(await run('npm', '--version'), { stdout: `${version.npm}\n` })

    const elsewhere = join(folder, 'elsewhere')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'package.json'), '{ "private": true }')
    const options = ['--prefer-offline', '--no-audit', '--no-fund', '--omit=dev']
    await npm(['install', ...options, join(base, filename)], elsewhere, environment)
    const command = join(elsewhere, 'node_modules', '.bin', 'barograph')
    t.match(await run(command, '--version'), { status: 0, stdout: `${packageVersion}\n`, stderr: '' })
    t.match(await run(command, 'start', '--help'), { status: 0, stdout: 'DATA_DIR', stderr: '' })

    const dataDirectory = join(folder, 'data')
    const service = await startService(t, { dataDirectory, command: [...asFromShell, command, 'start'], environment })
    const password = await service.addDevice('kitchen')
    const reading = { device: 'kitchen', temperature: 20, humidity: 50, pressure: 1000 }
    t.equal((await service.put('kitchen', password, reading)).status, 200)
    await service.import(`device,timestamp,temperature,humidity,pressure\nkitchen,${Date.now() - 60_000},20,50,1000\n`)
    const lines = join(folder, 'files.ndjson')
    writeFileSync(lines, `${JSON.stringify(sampleLines[1])}\n`)
    const words = [command, '--url', service.url, 'content-files', 'import', lines]
    const imported = await runOutside(words, folder, { ...environment, DATA_DIR: dataDirectory })
    t.match(imported, { status: 0 }, imported.stderr)

    const answer = (path: string) => fetch(`${service.url}${path}`)
    const json = async (path: string) => (await (await answer(path)).json()) as Record<string, unknown>
    await until('a reading shows', async () => {
      const { humidity } = await json(`/api/data/day/kitchen/${new Date().toISOString().slice(0, 10)}`)
      return Array.isArray(humidity) && humidity.length > 0
    })
    t.match(await json('/api/latest/all/24'), { data: [{ device: 'kitchen' }] })
    t.match(await json('/api/v1/contentfiles/'), { count: 1 })
    const script = /src="\.(\/assets\/[^"]+)"/.exec(await (await answer('/')).text())?.[1] ?? 'none'
    const docs = ['/docs', '/docs/statistics', '/docs/images/fleet.png', '/docs/api/logger/log_reading']
    for (const path of ['/api/stats_data/kitchen', script, ...docs]) t.equal((await answer(path)).status, 200, path)
    t.equal(await service.end('SIGTERM'), 0)
  })
}
