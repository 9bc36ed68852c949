/** Runs a program to its end and returns its output. */

import { spawn } from 'node:child_process'

export interface ProgramRun {
  status: number | null
  stdout: string
  stderr: string
}

export interface ProgramSettings {
  folder: string
  environment: Record<string, string | undefined>
}

export function runToEnd(
  command: string,
  words: readonly string[],
  { folder, environment }: ProgramSettings,
): Promise<ProgramRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', text => (stdout += text))
    child.stderr.on('data', text => (stderr += text))
    child.on('error', reject)
    child.on('close', status => resolve({ status, stdout, stderr }))
  })
}
