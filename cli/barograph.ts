/** `barograph`: runs the command that its arguments name. */

import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { cacheDirectoryOf } from '../service/settings/cache-directory.ts'
import { packageVersion } from '../store/version.ts'

const { stdin, stdout, stderr } = process

// The reader of our output may end early, as `head` does.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  throw error
})

// Stripping types and compiling take a quarter of the time of `barograph status`.
enableCompileCache(join(cacheDirectoryOf(process.env), 'compiled'))
const { runCommand } = await import('./program.ts')
const surroundings = { stdin, stdout, stderr, environment: process.env, version: packageVersion() }
process.exitCode = await runCommand(process.argv.slice(2), surroundings)
