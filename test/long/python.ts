/** Python programs in a virtual environment with exact versions from the package index. Needs python3 with venv. */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { type TestHooks, temporaryFolder } from '../support/databases.ts'
import { type ProgramRun, runToEnd } from '../support/run-program.ts'

export interface Python {
  /** Runs a program of the environment, which is first in PATH. */
  run(words: readonly [program: string, ...words: string[]], settings: PythonSettings): Promise<ProgramRun>
  start(words: readonly [program: string, ...words: string[]], environment: Record<string, string>): void
}

interface PythonSettings {
  folder: string
  /** Undefined removes a variable. */
  environment?: Record<string, string | undefined>
}

/** `requirements` is the path of pip's file with all packages of the programs. Throws with the output of pip. */
export async function makePython(t: TestHooks, requirements: string): Promise<Python> {
  const home = temporaryFolder(t)
  const folder = join(home, 'python')
  const programs = join(folder, 'bin')
  const path = [programs, process.env['PATH']].join(':')

  const python: Python = {
    run: ([program, ...words], { folder, environment = {} }) =>
      runToEnd(join(programs, program), words, { folder, environment: { ...process.env, PATH: path, ...environment } }),
    start([program, ...words], environment) {
      const env = { ...process.env, PATH: path, ...environment }
      const child = spawn(join(programs, program), words, { cwd: home, env, stdio: 'ignore' })
      t.teardown(() => child.kill('SIGKILL'))
    },
  }

  expectSuccess(await runToEnd('python3', ['-m', 'venv', folder], { folder: home, environment: process.env }))
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input']
  // A version preinstalled in the environment is not among the requirements.
  expectSuccess(await python.run(['pip', 'install', ...quiet, '--no-deps', '-r', requirements], { folder: home }))
  return python
}

function expectSuccess({ status, stdout, stderr }: ProgramRun): void {
  if (status !== 0) throw new Error(`${stdout}${stderr}`)
}
