/**
 * Reports a run of tap: a line with the failures for each completed test file, the running files after a silent minute, and a summary.
 */

import type { ChildProcess } from 'node:child_process'
import type { EventEmitter } from 'node:events'
import { processorSecondsOf } from './support/processor-time.ts'

interface TestFile extends EventEmitter {
  name: string
}

/** The suite of the runner has results that belong to no file. */
interface Suite extends EventEmitter {
  lists: { fail: { fullname: string; diag?: unknown }[] }
}

const silenceMsMax = 60_000
const linesPerFailure = 25
const commentsMax = 50
const dearestCount = 60

interface Duration {
  seconds: number
  /** Processor time, including the child processes that the file has waited for. */
  processorSeconds: number
}

/** Returns a function that prints the summary, once the workers have ended. */
export function reportProgress(suite: Suite, total: number): () => void {
  const startedMs = new Map<TestFile, number>()
  const durations = new Map<string, Duration>()
  const processorSecondsBefore = processorSecondsOf('children')
  const secondsSince = (file: TestFile) => (performance.now() - (startedMs.get(file) ?? 0)) / 1000
  const elapsed = (file: TestFile) => `${Math.round(secondsSince(file))} s`
  const say = (line: string) => {
    process.stdout.write(`${line}\n`)
    silence.refresh()
  }
  const silence = setInterval(() => {
    say(`still running: ${[...startedMs.keys()].map(file => `${file.name}, ${elapsed(file)}`).join('; ')}`)
  }, silenceMsMax)

  suite.on('subtestStart', (file: TestFile) => {
    startedMs.set(file, performance.now())
    let output = ''
    file.once('process', (started: ChildProcess) => {
      started.stdout?.on('data', text => (output += text))
      // The error output of a test is for people, such as the conditions it waits for.
      started.stderr?.pipe(process.stderr, { end: false })
      // A process that ended by an error between two tests is reported by tap only here.
      started.once('close', status => {
        durations.set(file.name, { seconds: secondsSince(file), processorSeconds: reportedIn(output) })
        say(`${status === 0 ? 'passed' : 'FAILED'} (${durations.size} of ${total}) ${file.name}, ${elapsed(file)}`)
        if (status !== 0) say(failuresIn(output))
        startedMs.delete(file)
      })
    })
  })
  suite.once('complete', () => {
    clearInterval(silence)
    for (const { fullname, diag } of suite.lists.fail) say(`failed: ${fullname} ${JSON.stringify(diag) ?? ''}`)
  })
  return () => {
    const files = [...durations.values()].reduce((sum, { processorSeconds }) => sum + processorSeconds, 0)
    const ofWorkers = processorSecondsOf('children') - processorSecondsBefore - files + processorSecondsOf('self')
    say(summaryOf(durations, ofWorkers))
  }
}

/** A test file reports its processor time at its end: the runner also waits for the processes that it lends. */
function reportedIn(tapOutput: string): number {
  return Number(/^# processor time: ([\d.]+) s$/m.exec(tapOutput)?.[1] ?? 0)
}

/** A line for each folder with its files and overlapping seconds, and one with the slowest files. */
function summaryOf(durations: ReadonlyMap<string, Duration>, workerSeconds: number): string {
  const files = [...durations].sort(([, one], [, other]) => other.processorSeconds - one.processorSeconds)
  const sum = (own: readonly [string, Duration][], key: keyof Duration) =>
    Math.round(own.reduce((total, [, duration]) => total + duration[key], 0))
  const line = (name: string, own: readonly [string, Duration][]) =>
    `${name}: ${own.length} files, ${sum(own, 'seconds')} s, ${sum(own, 'processorSeconds')} s of processor`
  const folders = Map.groupBy(files, ([name]) => name.split('/').slice(0, 2).join('/'))
  const dearest = files.slice(0, dearestCount)
  return [
    ...[...folders].map(([folder, own]) => line(folder, own)),
    `the workers and what they lend: ${Math.round(workerSeconds)} s of processor`,
    line('all', files),
    `most of the processor: ${dearest.map(([name, { processorSeconds }]) => `${name}, ${Math.round(processorSeconds)} s`).join('; ')}`,
  ].join('\n')
}

/** The comments of the file, then every failed assertion with tap's diagnostics. */
function failuresIn(tapOutput: string): string {
  const lines = tapOutput.split('\n')
  const comments = lines.filter(line => line.trimStart().startsWith('# ') && !isOfTap(line))
  const failed = lines.flatMap((line, index) => (line.trimStart().startsWith('not ok') ? [index] : []))
  const failures = failed.map(index => lines.slice(index, index + linesPerFailure).join('\n'))
  return [comments.slice(0, commentsMax).join('\n'), ...failures].join('\n\n')
}

/** The titles of subtests, the counts and the time, which are TAP comments, too. */
function isOfTap(line: string): boolean {
  return /^ *# (?:Subtest: |time=|failed \d|skip: |processor time: |\{)/.test(line)
}
