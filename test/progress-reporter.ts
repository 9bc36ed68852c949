/**
 * Reports a run of tap: a line for each test file when it has ended, with what failed; after a minute without one, the files that
 * are running; at the end a summary.
 */

import type { ChildProcess } from 'node:child_process'
import type { EventEmitter } from 'node:events'

interface TestFile extends EventEmitter {
  name: string
}

/** Of the runner's own, among them what belongs to no file. */
interface Suite extends EventEmitter {
  lists: { fail: { fullname: string; diag?: unknown }[] }
}

const silenceMsMax = 60_000
const linesPerFailure = 25
const commentsMax = 50
const slowestCount = 10

export function reportProgress(suite: Suite, total: number): void {
  const startedMs = new Map<TestFile, number>()
  const secondsOf = new Map<string, number>()
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
      // What a test writes there, such as what it waits for, is for people.
      started.stderr?.pipe(process.stderr, { end: false })
      // tap knows of a process that ended by an error between two tests only here.
      started.once('close', status => {
        secondsOf.set(file.name, secondsSince(file))
        say(`${status === 0 ? 'passed' : 'FAILED'} (${secondsOf.size} of ${total}) ${file.name}, ${elapsed(file)}`)
        if (status !== 0) say(failuresIn(output))
        startedMs.delete(file)
        if (secondsOf.size === total) say(summaryOf(secondsOf))
      })
    })
  })
  suite.once('complete', () => {
    clearInterval(silence)
    for (const { fullname, diag } of suite.lists.fail) say(`failed: ${fullname} ${JSON.stringify(diag) ?? ''}`)
  })
}

/** A line for each folder with its files and their seconds, which overlap, and one with the slowest files. */
function summaryOf(secondsOf: ReadonlyMap<string, number>): string {
  const files = [...secondsOf].sort(([, one], [, other]) => other - one)
  const folders = Map.groupBy(files, ([name]) => name.split('/').slice(0, 2).join('/'))
  const lines = [...folders].map(([folder, own]) => {
    const seconds = own.reduce((sum, [, seconds]) => sum + seconds, 0)
    return `${folder}: ${own.length} files, ${Math.round(seconds)} s`
  })
  const slowest = files.slice(0, slowestCount).map(([name, seconds]) => `${name}, ${Math.round(seconds)} s`)
  return [...lines, `slowest: ${slowest.join('; ')}`].join('\n')
}

/** What the file has commented, then every failed assertion with what tap says of it. */
function failuresIn(tapOutput: string): string {
  const lines = tapOutput.split('\n')
  const comments = lines.filter(line => line.trimStart().startsWith('# ') && !isOfTap(line))
  const failed = lines.flatMap((line, index) => (line.trimStart().startsWith('not ok') ? [index] : []))
  const failures = failed.map(index => lines.slice(index, index + linesPerFailure).join('\n'))
  return [comments.slice(0, commentsMax).join('\n'), ...failures].join('\n\n')
}

/** The titles of subtests, the counts and the time, which tap writes as comments, too. */
function isOfTap(line: string): boolean {
  return /^ *# (?:Subtest: |time=|failed \d|skip: |\{)/.test(line)
}
