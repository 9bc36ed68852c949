/** `npm test`: the checks, then every test, then one line with the count. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

function run(command: string, ...commandArguments: string[]): boolean {
  return spawnSync(command, commandArguments, { stdio: 'inherit' }).status === 0
}

/** The counts of tap's last line, such as `# { total: 41, pass: 40, fail: 1 }`. */
function readCounts(tapOutput: string): { pass: number; other: number } {
  const summary = tapOutput.match(/^# \{ total: (\d+)(?:, pass: (\d+))?.*\}$/m)
  const total = Number(summary?.[1] ?? 0)
  const pass = Number(summary?.[2] ?? 0)
  return { pass, other: total - pass }
}

/** Every failed assertion with what tap says of it; its reporters say nothing of them when no terminal looks on. */
function failuresOf(tapOutput: string): string {
  const lines = tapOutput.split('\n')
  const failed = lines.flatMap((line, index) => (/^\s*not ok/.test(line) ? [index] : []))
  return failed.map(index => lines.slice(index, index + linesPerFailure).join('\n')).join('\n\n')
}

const linesPerFailure = 25
const folder = mkdtempSync(join(tmpdir(), 'barograph-tap-'))
const outputFile = join(folder, 'output.tap')
try {
  if (!run('npm', 'run', '-s', 'check')) {
    process.stdout.write('The checks did not pass, so no test ran.\n0 passed, 1 failed\n')
    process.exitCode = 1
  } else {
    const passed = run('tap', '--reporter=terse', `--output-file=${outputFile}`, ...process.argv.slice(2))
    const output = readFileSync(outputFile, 'utf8')
    const { pass, other } = readCounts(output)
    if (!passed) process.stdout.write(`${failuresOf(output)}\n`)
    // A test that was skipped or marked as to do counts as failed: nothing here may be left out.
    const failed = passed ? other : Math.max(1, other)
    process.stdout.write(`${pass} passed, ${failed} failed\n`)
    process.exitCode = failed === 0 && pass > 0 ? 0 : 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
