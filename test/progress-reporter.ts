/** Tells of a run of tap: a line for each test file when it has ended, with what failed, and every minute without one which are running. */

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

export function reportProgress(suite: Suite, total: number): void {
  const startedMs = new Map<TestFile, number>()
  let ended = 0
  const elapsed = (file: TestFile) => `${Math.round((performance.now() - (startedMs.get(file) ?? 0)) / 1000)} s`
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
        say(`${status === 0 ? 'passed' : 'FAILED'} (${++ended} of ${total}) ${file.name}, ${elapsed(file)}`)
        if (status !== 0) say(failuresIn(output))
        startedMs.delete(file)
      })
    })
  })
  suite.once('complete', () => {
    clearInterval(silence)
    for (const { fullname, diag } of suite.lists.fail) say(`failed: ${fullname} ${JSON.stringify(diag) ?? ''}`)
  })
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
