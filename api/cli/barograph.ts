/** `barograph`: reads the arguments, runs the command, and tells how it went by the exit status. */

import { CommanderError } from 'commander'
import { packageVersion } from '../version.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { createProgram } from './program.ts'

const { stdin, stdout, stderr } = process

// Whoever reads our output may have seen enough, as `head` does.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  throw error
})

const program = createProgram({ stdin, stdout, stderr, environment: process.env, version: packageVersion() })
try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommandError) {
    stderr.write(`barograph: ${error.message}\n`)
    process.exitCode = error.exitStatus
  } else if (error instanceof CommanderError) {
    // Commander has told what was wrong; 0 is that of --help and --version.
    process.exitCode = error.exitCode === 0 ? 0 : exitUsage
  } else {
    throw error
  }
}
