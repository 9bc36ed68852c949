/** Real databases for a test: a separate data directory and both servers, removed at its end. */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
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
import type { Log } from '../../store/log.ts'
import { openPostgres } from '../../store/postgres/postgres.ts'
import { clusterFiles } from '../../store/postgres/postgres-cluster.ts'
import { openStore, type Store } from '../../store/store.ts'
import type { StoreOptions } from '../../store/store-options.ts'
import { testCacheDirectory } from './cache-directory.ts'

const root = resolve(import.meta.dirname, '../..')
const templates = join(testCacheDirectory(), 'test-directories')
const ageMsMax = 24 * 3_600_000

type OptionsOf = (directory: DataDirectory) => StoreOptions

/** The path must not exist. */
async function copyMadeDirectory(path: string, optionsOf: OptionsOf): Promise<void> {
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

function removeOld(): void {
  for (const name of readdirSync(templates)) {
    const path = join(templates, name)
    const isOld = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > ageMsMax
    if (isOld) rmSync(path, { recursive: true, force: true })
  }
}

export interface TestHooks {
  teardown(work: () => unknown): void
  /** Present if there are assertions. */
  fail?(message: string): unknown
}

/** A folder that the user `postgres` can pass through, as far as this test may say so. */
export function temporaryFolder(t: TestHooks): string {
  const path = mkdtempSync(join(tmpdir(), 'barograph-test-'))
  chmodSync(path, 0o711)
  t.teardown(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}

/** Closes the part at the end of the test. */
export function closing<Part extends { close(): unknown }>(t: TestHooks, part: Part): Part {
  t.teardown(() => part.close())
  return part
}

export function openTestDirectory(t: TestHooks, path = join(temporaryFolder(t), 'data')): DataDirectory {
  return closing(t, openDataDirectory(path))
}

export interface Databases {
  directory: DataDirectory
  store: Store
}

/** A path for a data directory: with a PostgreSQL that has its schema, or an empty one for a first start. */
export async function dataDirectoryPath(t: TestHooks, isFirstStart: boolean): Promise<string> {
  const path = join(temporaryFolder(t), 'data')
  if (!isFirstStart) await copyMadeDirectory(path, storeOptions)
  return path
}

/** Options for a test without QuestDB: an address where nothing listens prevents its start. */
export const nowhere = { questdbHttp: 'http://127.0.0.1:9', questdbPg: 'postgresql://127.0.0.1:9/qdb' }

/** Both databases. Wait for `store.questdb.ready` before queries of QuestDB. */
export async function startDatabases(
  t: TestHooks,
  { isFirstStart = false, ...options }: Partial<StoreOptions> & { isFirstStart?: boolean } = {},
): Promise<Databases> {
  // Teardowns run last in, first out: the store closes before its folder goes.
  const directory = openTestDirectory(t, await dataDirectoryPath(t, isFirstStart || options.databaseUrl !== undefined))
  return { directory, store: closing(t, await openStore({ ...storeOptions(directory), ...options })) }
}

let shared: Promise<Databases> | undefined

/** The PostgreSQL that all test modules of a process share: they are imported by one file, as a start takes a second. */
export function sharedPostgres(t: TestHooks): Promise<Databases> {
  shared ??= startDatabases(t, nowhere)
  return shared
}

export function storeOptions(directory: DataDirectory): StoreOptions {
  return { directory, cacheDirectory: testCacheDirectory(), environment: process.env, log: silentLog }
}

function ignore(): void {}

export const silentLog: Log = { info: ignore, warn: ignore, error: ignore }

/** Keeps the sentences of one level. */
export function recordingLog(level: keyof Log): { log: Log; texts: string[] } {
  const texts: string[] = []
  const record = (...words: unknown[]): void => void texts.push(String(words[1]))
  return { log: { ...silentLog, [level]: record }, texts }
}
