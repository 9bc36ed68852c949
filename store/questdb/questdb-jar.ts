/** The QuestDB that we start ourselves: one pinned jar, fetched once by Maven into a cache that all data directories share. */

import { createHash, randomBytes } from 'node:crypto'
import {
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { tryKernelLock } from '../kernel-lock.ts'
import type { Log } from '../log.ts'
import { type Environment, findProgram, runProgram } from '../process/find-program.ts'
import { StartError } from '../start-error.ts'
import { mavenJarFolder, reportFetch } from './fetch-progress.ts'

/** The same version stands in pom.xml. */
export const questdbVersion = '9.3.4'
const jarSha256 = '939bc53ab22f93dbaa6545143a6e7c536d4904c07b7f2d381e8eef10436be062'

const pomPath = fileURLToPath(new URL('pom.xml', import.meta.url))
const fetchTimeoutMs = 10 * 60_000
const lockPollMs = 100
const progressMs = 3000
const fetchPrefix = '.fetch-'
const giveInstead = 'or set QUESTDB_HTTP and QUESTDB_PG to a running QuestDB'

export interface JarOptions {
  cacheDirectory: string
  environment: Environment
  log: Log
  signal?: AbortSignal | undefined
  /** How often it is logged how far a fetch has come. */
  progressIntervalMs?: number
}

/** The path of the jar, after a fetch when it is not there yet. */
export async function questdbJar(options: JarOptions): Promise<string> {
  const folder = join(options.cacheDirectory, 'questdb', questdbVersion)
  const jar = join(folder, 'questdb.jar')
  if (await isVerified(jar)) return jar
  // Two that fetch at once would meet in Maven's own store, which is not made for it.
  const release = await lockFetch(folder, options)
  const fetchFolder = join(folder, `${fetchPrefix}${randomBytes(8).toString('hex')}`)
  try {
    if (await isVerified(jar)) return jar
    removeStrays(folder)
    await fetchJar(fetchFolder, options)
    renameSync(join(fetchFolder, 'questdb.jar'), jar)
    recordVerified(jar)
    return jar
  } finally {
    rmSync(fetchFolder, { recursive: true, force: true })
    release()
  }
}

async function lockFetch(
  folder: string,
  { log, signal, progressIntervalMs = progressMs }: JarOptions,
): Promise<() => void> {
  const startedMs = performance.now()
  let reportMs = startedMs
  try {
    mkdirSync(folder, { recursive: true })
    for (;;) {
      signal?.throwIfAborted()
      const release = tryKernelLock(join(folder, 'fetch.lock'))
      if (release !== undefined) return release
      const nowMs = performance.now()
      if (nowMs > startedMs + fetchTimeoutMs)
        throw new Error(`another process has been fetching for ${fetchTimeoutMs / 1000} s`)
      if (nowMs >= reportMs) {
        log.info({ seconds: Math.round((nowMs - startedMs) / 1000) }, 'waiting for another process to download QuestDB')
        reportMs = nowMs + progressIntervalMs
      }
      await sleep(lockPollMs)
    }
  } catch (error) {
    signal?.throwIfAborted()
    throw new StartError(
      `The cache ${folder} for QuestDB cannot be used (${error instanceof Error ? error.message : String(error)}): ` +
        `set XDG_CACHE_HOME to a writable directory, ${giveInstead}.`,
    )
  }
}

async function fetchJar(folder: string, options: JarOptions): Promise<void> {
  const { environment, log, signal, progressIntervalMs = progressMs } = options
  const maven = findProgram('mvn', environment)
  if (maven === undefined) {
    throw new StartError(
      `QuestDB ${questdbVersion} is downloaded with Maven, but there is no "mvn" on PATH: ` +
        `install it (on Debian: apt-get install maven), ${giveInstead}.`,
    )
  }
  log.info(
    { version: questdbVersion },
    `downloading QuestDB ${questdbVersion} with Maven, about 50 MB (first start only)`,
  )
  const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`, '-Dmdep.stripVersion=true']
  const progress = reportFetch({ log, intervalMs: progressIntervalMs, jarFolder: mavenJarFolder(questdbVersion) })
  const result = await runProgram(
    maven,
    ['--batch-mode', '--strict-checksums', '--file', pomPath, ...goal, '-DexcludeTransitive=true'],
    { environment, timeoutMs: fetchTimeoutMs, signal, onOutput: progress.onOutput },
  ).finally(progress.stop)
  if (!result.ok) {
    throw new StartError(
      `Maven could not download QuestDB ${questdbVersion} (${firstError(result.output)}): ` +
        `check the network and Maven's settings, ${giveInstead}.`,
    )
  }
  const sha256 = await digestOf(join(folder, 'questdb.jar'))
  if (sha256 !== jarSha256) {
    throw new StartError(
      `The downloaded QuestDB has the SHA-256 ${sha256}, not ${jarSha256}, and was discarded: ` +
        `empty Maven's local repository and check its mirror, ${giveInstead}.`,
    )
  }
  log.info({ version: questdbVersion }, 'QuestDB downloaded')
}

/** Cheap when the recorded size and time still fit; else the digest decides. */
async function isVerified(jar: string): Promise<boolean> {
  if (!existsSync(jar)) return false
  const recordPath = `${jar}.verified`
  if (existsSync(recordPath) && readFileSync(recordPath, 'utf8') === recordOf(jar)) return true
  if ((await digestOf(jar)) !== jarSha256) return false
  recordVerified(jar)
  return true
}

/** In a cache that others have filled we may only read; then each start computes the digest, which takes 0.1 s. */
function recordVerified(jar: string): void {
  const temporary = `${jar}.verified-${process.pid}`
  try {
    writeFileSync(temporary, recordOf(jar))
    renameSync(temporary, `${jar}.verified`)
  } catch {
    rmSync(temporary, { force: true })
  }
}

function recordOf(jar: string): string {
  const { size, mtimeMs } = statSync(jar)
  return `${jarSha256} ${size} ${mtimeMs}\n`
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** What fetches that were killed have left; we hold the lock, so nobody is at work there. */
function removeStrays(folder: string): void {
  for (const name of readdirSync(folder).filter(entry => entry.startsWith(fetchPrefix))) {
    rmSync(join(folder, name), { recursive: true, force: true })
  }
}

function firstError(output: string): string {
  const lines = output.split('\n').filter(line => line.trim() !== '')
  const line = lines.find(text => text.includes('[ERROR]')) ?? lines.at(-1) ?? 'no output'
  return line.replace(/^.*?\[ERROR\]\s*/, '').slice(0, 300)
}
