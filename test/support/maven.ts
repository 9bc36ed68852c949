/** A Maven that runs the test's script, and an empty cache for its files. */

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JarOptions } from '../../store/maven/maven-fetch.ts'
import { findProgram } from '../../store/process/find-program.ts'
import { silentLog, type TestHooks, temporaryFolder } from './databases.ts'

/** `$folder` receives the jars. `place` is their folder in the cache. Without a script, Maven is missing. */
export function withMaven(t: TestHooks, place: string, script: string | undefined): JarOptions & { folder: string } {
  const base = temporaryFolder(t)
  const programs = join(base, 'bin')
  mkdirSync(programs)
  for (const name of ['cp', 'cut', 'mkdir', 'sleep'])
    symlinkSync(findProgram(name, process.env) ?? '', join(programs, name))
  if (script !== undefined) {
    const findFolder =
      'for word; do case $word in -DoutputDirectory=*) folder=$(echo "$word" | cut -d= -f2);; esac; done'
    writeFileSync(join(programs, 'mvn'), `#!/bin/sh\n${findFolder}\n${script}\n`)
    chmodSync(join(programs, 'mvn'), 0o755)
  }
  const cacheDirectory = join(base, 'cache')
  return { cacheDirectory, folder: join(cacheDirectory, place), environment: { PATH: programs }, log: silentLog }
}
