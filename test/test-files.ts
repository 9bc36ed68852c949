/**
 * Runs test files, each in a process of its own. tap's own runner loads every process with hooks that record which modules
 * it has loaded, and the services and command lines that it starts with it: a third of the processor time of a start.
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
// tap's limit of 30 s begins with the import, and the build and the checks may take longer before the first file.
t.setTimeout(0)
/** The text by which a file uses what a worker lends. */
const lentParts = { service: /\bsharedService\b/, browser: /\/(?:page-tests|browser|browser-page)\.ts'/ }
/** Of the other files, those that take longest come first, so that the end of the run has no file that runs alone. */
const longest = ['test/faults/', 'test/web/', 'test/service/', 'test/store/', 'test/cli/demo/', 'test/ingest/kafka']

export interface TestCounts {
  pass: number
  /** With what was skipped or is to do, for nothing may be left out. */
  fail: number
}

/** Runs the files, and those below the folders; without any, all. The options are for Node, of every process that a file starts. */
export async function runTestFiles(
  paths: readonly string[],
  environment: NodeJS.ProcessEnv,
  nodeOptions: readonly string[] = [],
): Promise<TestCounts> {
  const files = testFiles(paths.length === 0 ? ['test'] : paths)
  // What tap writes of it all is read by nobody: what counts is told as it comes.
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

/** One file after the other. */
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

/** tap adds its hooks to NODE_OPTIONS; `env` replaces them, and becomes Node. */
function runFile(file: string, environment: NodeJS.ProcessEnv, nodeOptions: readonly string[]) {
  const node = [process.execPath, '--import=./test/support/end-with-parent.ts', file]
  return t.spawn('/usr/bin/env', [`NODE_OPTIONS=${nodeOptions.join(' ')}`, ...node], {
    name: file,
    cwd: root,
    env: { ...environment, TAP_TIMEOUT: String(timeoutMs / 1000) },
    stdio: 'pipe',
    buffered: true,
    timeout: timeoutMs,
  })
}

/** Relative to the root, in the order in which they begin. */
function testFiles(paths: readonly string[]): string[] {
  const files = paths.flatMap(path =>
    statSync(path).isDirectory() ? globSync(join(path, '**/*.test.ts')).sort(inAlphabet) : path,
  )
  const rankOf = (file: string) => {
    // First, so that a worker can end what it lends.
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
