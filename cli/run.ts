/** Runs one command and returns its exit status. */

import { CommanderError } from 'commander'
import { CommandError, exitUsage } from './command-error.ts'
import { printText } from './output.ts'
import { createProgram, type ProgramOptions } from './program.ts'

export async function runCommand(words: readonly string[], options: ProgramOptions): Promise<number> {
  try {
    await createProgram(options).parseAsync(withHelpAsOption(words), { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommandError) {
      printText(options.stderr, `barograph: ${error.message}\n`)
      return error.exitStatus
    }
    // Commander has printed the error. Its exit code is 0 for --help and --version.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitUsage
    throw error
  }
}

/** `help devices add` is `devices add --help`: the command of Commander's own does not wait until a command is defined. */
function withHelpAsOption(words: readonly string[]): readonly string[] {
  const [first, ...rest] = words
  return first === 'help' ? [...rest, '--help'] : words
}
