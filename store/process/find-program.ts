/** Finds a program on PATH and runs it with a time limit and an output limit. */

import { execFile } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export type Environment = Readonly<Record<string, string | undefined>>

export function findProgram(name: string, environment: Environment): string | undefined {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter(folder => folder !== '')
  return folders.map(folder => join(folder, name)).find(isExecutable)
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

export interface RunResult {
  ok: boolean
  /** Standard output followed by standard error. */
  output: string
}

export interface RunOptions {
  environment: Environment
  timeoutMs: number
  signal?: AbortSignal | undefined
  user?: { uid: number; gid: number } | undefined
  /** Receives standard output as it arrives. */
  onOutput?: ((text: string) => void) | undefined
}

const outputBytesMax = 1024 * 1024

export function runProgram(command: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const { environment, timeoutMs, signal, user, onOutput } = options
  return new Promise(resolve => {
    const child = execFile(
      command,
      [...args],
      {
        env: environment,
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: outputBytesMax,
        signal,
        cwd: '/',
        ...user,
      },
      (error, stdout, stderr) => resolve({ ok: error === null, output: stdout + stderr || (error?.message ?? '') }),
    )
    if (onOutput !== undefined) child.stdout?.on('data', onOutput)
  })
}
