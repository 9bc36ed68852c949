/**
 * Runs test files, each in a separate process. tap's runner loads every process with hooks that record its modules. For services
 * and command lines, these take a third of the processor time of a start.
 */

import { globSync, readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import t from 'tap'
import { reportProgress } from './progress-reporter.ts'
import { openWorker } from './worker.ts'

const root = resolve(import.meta.dirname, '..')
const jobs = 4
const timeoutMs = 30 * 60_000
// tap's limit of 30 s begins with the import. The build and the checks may take longer before the first file.
t.setTimeout(0)
/** The texts by which a file uses the parts lent by a worker. */
const lentParts = { service: /\bsharedService\b/, browser: /\/(?:page-tests|browser|browser-page)\.ts'/ }
/** The slowest files start first, so that no file runs alone at the end. */
const longest = ['test/faults/', 'test/web/', 'test/service/', 'test/store/', 'test/cli/demo/', 'test/ingest/kafka']

export interface TestCounts {
  pass: number
  /** Includes skipped tests and todos, which count as failures. */
  fail: number
}

/** Runs the files and the files of the folders, by default all. The options apply to Node in every process of a file. */
export async function runTestFiles(
  paths: readonly string[],
  environment: NodeJS.ProcessEnv,
  nodeOptions: readonly string[] = [],
): Promise<TestCounts> {
  const files = testFiles(paths.length === 0 ? ['test'] : paths)
  // tap's output is unused: results are reported as they arrive.
  t.pipe(new PassThrough().resume())
  t.jobs = jobs
  const summarize = reportProgress(t, files.length)
  t.plan(files.length)
  const waiting = [...files]
  await Promise.all(Array.from({ length: jobs }, () => runWorker(waiting, environment, nodeOptions)))
  summarize()
  const { pass, total } = t.counts
  return { pass, fail: Math.max(total - pass, t.passing() && files.length > 0 ? 0 : 1) }
}

async function runWorker(
  waiting: string[],
  environment: NodeJS.ProcessEnv,
  nodeOptions: readonly string[],
): Promise<void> {
  const worker = await openWorker(environment)
  try {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const result = await runFile(file, worker.environment, nodeOptions)
      await worker.endFile(result?.ok === true, part => waiting.some(later => usesLent(later, part)))
    }
  } finally {
    await worker.close()
  }
}

/** tap adds its hooks to NODE_OPTIONS. `env` replaces these, then executes Node. */
function runFile(file: string, environment: NodeJS.ProcessEnv, nodeOptions: readonly string[]) {
  const node = [process.execPath, './test/support/test-file.ts', file]
  return t.spawn('/usr/bin/env', [`NODE_OPTIONS=${nodeOptions.join(' ')}`, ...node], {
    name: file,
    cwd: root,
    env: { ...environment, TAP_TIMEOUT: String(timeoutMs / 1000) },
    stdio: 'pipe',
    buffered: true,
    timeout: timeoutMs,
  })
}

/** Paths relative to the root, in their order of execution. */
function testFiles(paths: readonly string[]): string[] {
  const files = paths.flatMap(path =>
    statSync(path).isDirectory() ? globSync(join(path, '**/*.test.ts')).sort(inAlphabet) : path,
  )
  const rankOf = (file: string) => {
    // Files with lent parts run first, so that a worker can end the parts.
    if (usesLent(file, 'service')) return -2
    if (usesLent(file, 'browser')) return -1
    const rank = longest.findIndex(prefix => file.startsWith(prefix))
    return rank < 0 ? longest.length : rank
  }
  const ranks = new Map(files.map(file => relative(root, resolve(file))).map(file => [file, rankOf(file)]))
  return [...ranks].sort(([, one], [, other]) => one - other).map(([file]) => file)
}

function usesLent(file: string, part: keyof typeof lentParts): boolean {
  return lentParts[part].test(readFileSync(join(root, file), 'utf8'))
}

function inAlphabet(one: string, other: string): number {
  return one < other ? -1 : 1
}
