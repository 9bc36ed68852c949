/** `barograph`: runs the command that its arguments name. */

import { packageVersion } from '../api/version.ts'
import { runCommand } from './run.ts'

const { stdin, stdout, stderr } = process

// Whoever reads our output may have seen enough, as `head` does.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  throw error
})

const surroundings = { stdin, stdout, stderr, environment: process.env, version: packageVersion() }
process.exitCode = await runCommand(process.argv.slice(2), surroundings)
