/** Options of Java for the many short lives of databases in the tests. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { freePort } from '../../store/process/free-port.ts'
import { findJava, type Java, questdbJar } from '../../store/questdb/java.ts'
import { settingsText } from '../../store/questdb/questdb-settings.ts'
import { testCacheDirectory } from './cache-directory.ts'
import { silentLog } from './databases.ts'
import { waitFor } from './wait-for.ts'

// Other programs in Java load other classes, and would warn about the archive.
const quiet = '-Xlog:cds=off -Xlog:cds+dynamic=off'

/**
 * The tests start QuestDB dozens of times with little work. Half of the cost of a start is the optimizing compiler, which pays off
 * only later. A quarter of the rest are two requested garbage collections.
 */
const cheapStart = '-XX:TieredStopAtLevel=1 -XX:+DisableExplicitGC'

/**
 * Returns the value of `JAVA_TOOL_OPTIONS`, including present options. An archive of the classes that QuestDB loads (class data
 * sharing, JEP 350) halves the processor time of a start. It is created if the cache lacks one for this QuestDB and this Java.
 */
export async function javaOptions(environment: NodeJS.ProcessEnv): Promise<string> {
  const cacheDirectory = testCacheDirectory()
  const options = `${environment['JAVA_TOOL_OPTIONS'] ?? ''} ${cheapStart}`.trim()
  const java = await findJava(environment, cacheDirectory)
  const jar = await questdbJar({ cacheDirectory, environment, log: silentLog })
  const archivePath = join(dirname(jar), `classes-java-${java.version}.jsa`)
  if (!existsSync(archivePath)) {
    const unfinishedPath = `${archivePath}-${process.pid}`
    await makeClassArchive(unfinishedPath, java, jar, { ...environment, JAVA_TOOL_OPTIONS: options })
    // A run beside this one may have been first.
    renameSync(unfinishedPath, archivePath)
  }
  return `${options} -XX:SharedArchiveFile=${archivePath} ${quiet}`
}

/** Runs QuestDB until it answers a query. Java writes the archive when QuestDB ends. */
async function makeClassArchive(path: string, java: Java, jar: string, env: NodeJS.ProcessEnv): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'barograph-classes-'))
  const { http } = await writeSettings(root)
  const options = [...quiet.split(' '), `-XX:ArchiveClassesAtExit=${path}`, '-XX:+UseParallelGC', '-Xmx512m']
  const program = ['-p', jar, '-m', 'io.questdb/io.questdb.ServerMain', '-d', root]
  const questdb = spawn(java.command, [...options, ...program], { env, stdio: 'ignore' })
  const ended = once(questdb, 'close')
  try {
    await waitFor('QuestDB answers', async () => questdb.exitCode !== null || (await isAnswering(http)))
  } finally {
    questdb.kill()
    await ended
    rmSync(root, { recursive: true, force: true })
  }
}

async function writeSettings(root: string): Promise<{ http: number }> {
  const [http, health, pg] = await Promise.all([freePort(), freePort(), freePort()])
  const settings = {
    'http.bind.to': `127.0.0.1:${http}`,
    'http.min.net.bind.to': `127.0.0.1:${health}`,
    'pg.net.bind.to': `127.0.0.1:${pg}`,
    'line.tcp.enabled': 'false',
    'telemetry.enabled': 'false',
    'metrics.enabled': 'true',
  }
  mkdirSync(join(root, 'conf'))
  writeFileSync(join(root, 'conf', 'server.conf'), settingsText(settings))
  return { http }
}

async function isAnswering(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/exec?query=select%201`)).ok
  } catch {
    return false
  }
}
