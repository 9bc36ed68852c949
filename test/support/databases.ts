/** Real databases for a test: a data directory of its own and both servers, gone again at its end. */

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DataDirectory, openDataDirectory } from '../../store/data-directory.ts'
import type { Log } from '../../store/log.ts'
import { openStore, type Store } from '../../store/store.ts'
import type { StoreOptions } from '../../store/store-options.ts'
import { testCacheDirectory } from './cache-directory.ts'
import { copyMadeDirectory } from './made-directory.ts'

export interface TestHooks {
  teardown(work: () => unknown): void
  /** Where there are assertions. */
  fail?(message: string): unknown
}

/** A folder that the user `postgres` can pass through, as far as this test may say so. */
export function temporaryFolder(t: TestHooks): string {
  const path = mkdtempSync(join(tmpdir(), 'barograph-test-'))
  chmodSync(path, 0o711)
  t.teardown(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}

/** One that is closed at the end of the test. */
export function openTestDirectory(t: TestHooks, path = join(temporaryFolder(t), 'data')): DataDirectory {
  const directory = openDataDirectory(path)
  t.teardown(() => directory.close())
  return directory
}

export interface Databases {
  directory: DataDirectory
  store: Store
}

/** A path for a data directory: of one with a PostgreSQL that has its schema, or, for a first start, of none. */
export async function dataDirectoryPath(t: TestHooks, isFirstStart: boolean): Promise<string> {
  const path = join(temporaryFolder(t), 'data')
  if (!isFirstStart) await copyMadeDirectory(path, storeOptions)
  return path
}

/** Options for a test that needs nothing of QuestDB, so that none is started: an address where nobody listens. */
export const nowhere = { questdbHttp: 'http://127.0.0.1:9', questdbPg: 'postgresql://127.0.0.1:9/qdb' }

/** Both databases; wait for `store.questdb.ready` where QuestDB is asked. */
export async function startDatabases(
  t: TestHooks,
  { isFirstStart = false, ...options }: Partial<StoreOptions> & { isFirstStart?: boolean } = {},
): Promise<Databases> {
  const directory = openDataDirectory(await dataDirectoryPath(t, isFirstStart || options.databaseUrl !== undefined))
  // Teardowns run last in, first out: the store closes before its folder goes.
  t.teardown(() => directory.close())
  const store = await openStore({ ...storeOptions(directory), ...options })
  t.teardown(() => store.close())
  return { directory, store }
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

function ignore(): void {
  // Tests look at what happens, not at what is logged.
}

export const silentLog: Log = { info: ignore, warn: ignore, error: ignore }

/** Keeps the sentences of one level. */
export function recordingLog(level: keyof Log): { log: Log; texts: string[] } {
  const texts: string[] = []
  const record = (...words: unknown[]): void => void texts.push(String(words[1]))
  return { log: { ...silentLog, [level]: record }, texts }
}
