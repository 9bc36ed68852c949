/** The command line as a process of its own, as a person runs it. */

import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

export interface CommandRun {
  status: number | null
  stdout: string
  stderr: string
}

export interface CommandSettings {
  environment?: Record<string, string>
  stdin?: string
}

const root = resolve(import.meta.dirname, '..', '..')

/** Runs `barograph` with these words; other settings of this machine do not reach it. */
export function barograph(
  words: readonly string[],
  { environment = {}, stdin }: CommandSettings = {},
): Promise<CommandRun> {
  const { PATH = '', HOME = '' } = process.env
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['api/cli/barograph.ts', ...words], {
      cwd: root,
      env: { PATH, HOME, ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', text => (stdout += text))
    child.stderr.on('data', text => (stderr += text))
    child.on('error', reject)
    child.on('close', status => resolve({ status, stdout, stderr }))
    child.stdin.end(stdin ?? '')
  })
}
