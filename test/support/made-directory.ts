/**
 * A data directory with a PostgreSQL that has its schema, copied from one that is made once for each form of the schema: to
 * make a cluster and to migrate it takes most of the processor time of a start of PostgreSQL, and the tests need some 150.
 */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type DataDirectory, openDataDirectory } from '../../store/data-directory.ts'
import { openPostgres } from '../../store/postgres/postgres.ts'
import { clusterFiles } from '../../store/postgres/postgres-cluster.ts'
import type { StoreOptions } from '../../store/store-options.ts'
import { testCacheDirectory } from './cache-directory.ts'

const root = resolve(import.meta.dirname, '../..')
const templates = join(testCacheDirectory(), 'test-directories')
const ageMsMax = 24 * 3_600_000

type OptionsOf = (directory: DataDirectory) => StoreOptions

/** The path must not exist. */
export async function copyMadeDirectory(path: string, optionsOf: OptionsOf): Promise<void> {
  const template = join(templates, digestOfSources())
  if (!existsSync(template)) await makeTemplate(template, optionsOf)
  const now = new Date()
  utimesSync(template, now, now)
  execFileSync('cp', ['-a', template, path])
}

/** All that a cluster comes from, and who it belongs to. */
function digestOfSources(): string {
  const hash = createHash('sha256').update(`${process.getuid?.()}\n${readFileSync(join(root, 'package-lock.json'))}`)
  for (const folder of ['store', 'store/postgres', 'store/postgres/migrations']) {
    const files = readdirSync(join(root, folder), { withFileTypes: true }).filter(entry => entry.isFile())
    for (const { name } of files) hash.update(`${name}\n${readFileSync(join(root, folder, name))}`)
  }
  return hash.digest('hex').slice(0, 16)
}

/** Made aside, where the user of PostgreSQL can reach it, and put in its place at once: another test may be making it, too. */
async function makeTemplate(template: string, optionsOf: OptionsOf): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'barograph-made-'))
  try {
    execFileSync('chmod', ['711', folder])
    const made = join(folder, 'data')
    const directory = openDataDirectory(made)
    const postgres = await openPostgres(optionsOf(directory), new AbortController().signal)
    await postgres.close()
    const { recordPath, logPath } = clusterFiles(directory.postgres)
    for (const file of [recordPath, logPath]) rmSync(file)
    directory.close()
    mkdirSync(templates, { recursive: true })
    removeOld()
    const aside = mkdtempSync(join(templates, 'unfinished-'))
    execFileSync('cp', ['-a', made, join(aside, 'data')])
    try {
      renameSync(join(aside, 'data'), template)
    } catch (error) {
      if (!existsSync(template)) throw error
    }
    rmSync(aside, { recursive: true })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Those that nobody has copied for a day. */
function removeOld(): void {
  for (const name of readdirSync(templates)) {
    const path = join(templates, name)
    const isOld = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > ageMsMax
    if (isOld) rmSync(path, { recursive: true, force: true })
  }
}
