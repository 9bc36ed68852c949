/** The command on its first use: its help, and messages about a missing or old Node. */

import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { settingRows } from '../../service/settings/start-help.ts'
import { packageVersion } from '../../store/version.ts'
import { temporaryFolder } from '../support/databases.ts'
import { runToEnd } from '../support/run-program.ts'

const root = resolve(import.meta.dirname, '..', '..')
const { PATH = '', HOME = '' } = process.env

/** Makes this Node say that it is the old one. */
function pretendNode(t: Test, version: string): string {
  const file = join(temporaryFolder(t), 'version.cjs')
  const text = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  writeFileSync(file, text)
  return file
}

/** A checkout before `npm ci`, with the common programs and this `node`, if any, on PATH. */
function bareCheckout(t: Test, nodeScript?: string) {
  const folder = temporaryFolder(t)
  const programs = join(folder, 'programs')
  mkdirSync(programs)
  for (const name of ['readlink', 'sh']) symlinkSync(join('/bin', name), join(programs, name))
  if (nodeScript !== undefined) {
    writeFileSync(join(programs, 'node'), nodeScript)
    chmodSync(join(programs, 'node'), 0o755)
  }
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  mkdirSync(join(folder, 'service'))
  writeFileSync(join(folder, 'service', 'main.ts'), '')
  return { folder, environment: { PATH: programs } }
}

t.test('npm start -- --help shows every setting with its default', async t => {
  const words = ['start', '--silent', '--', '--help']
  const run = await runToEnd('npm', words, { folder: root, environment: { PATH, HOME } })
  t.equal(run.status, 0)
  const lines = run.stdout.split('\n').map(line => line.trim().replace(/ {2,}/g, '  '))
  for (const [name, value, description] of settingRows()) {
    t.ok(lines.includes([name, value, description].filter(part => part !== '').join('  ')), name)
  }
  t.match(run.stdout, 'Ctrl-C stops it')
})

t.test('npx barograph is the command line, as is a link to it', async t => {
  const environment = { PATH, HOME }
  const npx = await runToEnd('npx', ['barograph', 'devices', '--help'], { folder: root, environment })
  t.match(npx, { status: 0, stdout: 'Usage: barograph devices' })
  const link = join(temporaryFolder(t), 'barograph')
  symlinkSync(join(root, 'bin', 'barograph'), link)
  const linked = await runToEnd(link, ['--version'], { folder: '/', environment })
  t.match(linked, { status: 0, stdout: `${packageVersion()}\n` })
})

t.test('unknown arguments of the service and a role against the settings are refused', async t => {
  const start = (...words: string[]) =>
    runToEnd('bin/barograph', ['start', ...words], { folder: root, environment: { PATH } })
  const stderr = 'takes no arguments such as "--port"; --help lists its settings'
  t.match(await start('--port'), { status: 2, stdout: '', stderr })
  t.match(await start('--role', 'reader'), { status: 2, stdout: '', stderr: '--role must be all, api or forward.\n' })
  t.match(await start('--role', 'forward'), { status: 1, stdout: '', stderr: '--role forward needs KAFKA_BROKERS: ' })
})

t.test('--version and --help load no package but the one that reads arguments', async t => {
  const preload = ['--import', './test/support/list-modules.ts', 'bin/launch.cjs']
  for (const word of ['--version', '--help']) {
    const run = await runToEnd(process.execPath, [...preload, word], { folder: root, environment: { PATH, HOME } })
    t.equal(run.status, 0)
    const packages = [...run.stderr.matchAll(/\/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].map(match => match[1])
    t.strictSame([...new Set(packages)], ['commander'], word)
  }
})

t.test('an old Node gets a message with the required version and its installation', async t => {
  const words = ['--require', pretendNode(t, '22.22.0'), 'bin/launch.cjs', 'start']
  const run = await runToEnd(process.execPath, words, { folder: root, environment: { PATH } })
  t.match(run, { status: 1, stdout: '', stderr: 'Barograph needs Node 24 or newer, and this is 22.22.0 (' })
  t.match(run.stderr, 'use "npm start" or "npx barograph", which takes the Node 24.21.0 of its own.\n')
  t.equal(run.stderr.trim().split('\n').length, 1)
})

t.test('an old Node without the install scripts gets the same message', async t => {
  const script = `#!/bin/sh\nexec '${process.execPath}' --require '${pretendNode(t, '20.20.2')}' "$@"\n`
  const { folder, environment } = bareCheckout(t, script)
  const run = await runToEnd('bin/barograph', ['start'], { folder, environment })
  const remedy = /this is 20\.20\.2 .*: run "script\/npm ci" with install scripts \(no --ignore-scripts\)/
  t.match(run, { status: 1, stdout: '', stderr: remedy })
  t.equal(run.stderr.trim().split('\n').length, 1)
})

t.test('a missing Node gets a message', async t => {
  const { folder, environment } = bareCheckout(t)
  const run = await runToEnd('bin/barograph', ['start'], { folder, environment })
  const stderr = /^Barograph runs on Node, which npm brings: run script\/bootstrap here/
  t.match(run, { status: 127, stdout: '', stderr })
})
