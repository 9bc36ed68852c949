/** Java programs that the service starts itself: pinned jars, fetched once by Maven into a cache shared by all data directories. */

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
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { tryKernelLock } from '../directory-lock.ts'
import type { Log } from '../log.ts'
import { type Environment, findProgram, runProgram } from '../process/find-program.ts'
import { StartError } from '../start-error.ts'

const fetchTimeoutMs = 10 * 60_000
const lockPollMs = 100
const progressMs = 3000
const fetchPrefix = '.fetch-'

export interface JarOptions {
  cacheDirectory: string
  environment: Environment
  log: Log
  signal?: AbortSignal | undefined
  /** Interval of the progress log. */
  progressIntervalMs?: number
}

interface MavenJars {
  /** Display name. */
  name: string
  version: string
  /** The POM names the jars and the plugin that fetches them. */
  pomPath: string
  /** Folder in the cache. The jars are in a subfolder for their version. */
  folderName: string
  /** The only jar. Without it the jars are in `lib`. */
  jarName?: string
  /** Computed by `digestOf`. */
  sha256: string
  goalOptions: readonly string[]
  megabytes: number
  /** Path of the largest jar below Maven's local repository. */
  mavenFolder: readonly string[]
  /** Alternative where Maven is not available, appended to "install it,". */
  giveInstead: string | undefined
}

/** Returns the path of the jar, or of the folder with the jars, after fetching them if necessary. */
export async function fetchJars(jars: MavenJars, options: JarOptions): Promise<string> {
  const folder = join(options.cacheDirectory, jars.folderName, jars.version)
  const path = join(folder, jars.jarName ?? 'lib')
  if (await isVerified(path, jars.sha256)) return path
  // Two concurrent fetches would collide in Maven's local repository, which does not support that.
  const release = await lockFetch(folder, jars, options)
  const fetchFolder = join(folder, `${fetchPrefix}${randomBytes(8).toString('hex')}`)
  try {
    if (await isVerified(path, jars.sha256)) return path
    removeStrays(folder)
    const fetched = jars.jarName === undefined ? fetchFolder : join(fetchFolder, jars.jarName)
    await runMaven(fetchFolder, jars, options)
    await assertPinned(fetched, jars)
    rmSync(path, { recursive: true, force: true })
    renameSync(fetched, path)
    recordVerified(path, jars.sha256)
    options.log.info({ version: jars.version }, `${jars.name} downloaded`)
    return path
  } finally {
    rmSync(fetchFolder, { recursive: true, force: true })
    release()
  }
}

async function lockFetch(
  folder: string,
  jars: MavenJars,
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
        const seconds = Math.round((nowMs - startedMs) / 1000)
        log.info({ seconds }, `waiting for another process to download ${jars.name}`)
        reportMs = nowMs + progressIntervalMs
      }
      await sleep(lockPollMs)
    }
  } catch (error) {
    signal?.throwIfAborted()
    const reason = error instanceof Error ? error.message : String(error)
    const remedy = remedyOf(jars, 'set XDG_CACHE_HOME to a writable directory')
    throw new StartError(`The cache ${folder} for ${jars.name} cannot be used (${reason}): ${remedy}`)
  }
}

async function runMaven(folder: string, jars: MavenJars, options: JarOptions): Promise<void> {
  const { environment, log, signal, progressIntervalMs = progressMs } = options
  const called = `${jars.name} ${jars.version}`
  const maven = findProgram('mvn', environment)
  if (maven === undefined) {
    const remedy = remedyOf(jars, 'install it (on Debian: apt-get install maven)')
    throw new StartError(`${called} is downloaded with Maven, but there is no "mvn" on PATH: ${remedy}`)
  }
  const { version, megabytes } = jars
  log.info({ version }, `downloading ${called} with Maven, about ${megabytes} MB (first start only)`)
  const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`, ...jars.goalOptions]
  const jarFolder = mavenJarFolder(...jars.mavenFolder)
  const progress = reportFetch({ name: jars.name, log, intervalMs: progressIntervalMs, jarFolder })
  const result = await runProgram(maven, ['--batch-mode', '--strict-checksums', '--file', jars.pomPath, ...goal], {
    environment,
    timeoutMs: fetchTimeoutMs,
    signal,
    onOutput: progress.onOutput,
  }).finally(progress.stop)
  if (!result.ok) {
    const remedy = remedyOf(jars, "check the network and Maven's settings")
    throw new StartError(`Maven could not download ${called} (${firstError(result.output)}): ${remedy}`)
  }
}

async function assertPinned(path: string, jars: MavenJars): Promise<void> {
  const sha256 = await digestOf(path)
  if (sha256 === jars.sha256) return
  const remedy = remedyOf(jars, "empty Maven's local repository and check its mirror")
  throw new StartError(
    `The downloaded ${jars.name} has the SHA-256 ${sha256}, not ${jars.sha256}, and was discarded: ${remedy}`,
  )
}

function remedyOf({ giveInstead }: MavenJars, remedy: string): string {
  return giveInstead === undefined ? `${remedy}.` : `${remedy}, ${giveInstead}.`
}

/** Removes files of killed fetches. The lock is held, so no other process is fetching. */
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

/** Compares the recorded sizes and times, which is cheap. The digest decides where they differ. */
async function isVerified(path: string, sha256: string): Promise<boolean> {
  if (!existsSync(path)) return false
  const recordPath = `${path}.verified`
  if (existsSync(recordPath) && readFileSync(recordPath, 'utf8') === recordOf(path, sha256)) return true
  if ((await digestOf(path)) !== sha256) return false
  recordVerified(path, sha256)
  return true
}

/** A cache filled by another user may be read-only. Each start then computes the digest, which takes 0.1 s. */
function recordVerified(path: string, sha256: string): void {
  const temporary = `${path}.verified-${process.pid}`
  try {
    writeFileSync(temporary, recordOf(path, sha256))
    renameSync(temporary, `${path}.verified`)
  } catch {
    rmSync(temporary, { force: true })
  }
}

/** SHA-256 of a file. For a folder: over the lines `name sha256` of its files, by name. */
async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  if (statSync(path).isDirectory()) {
    for (const name of readdirSync(path).sort()) hash.update(`${name} ${await digestOf(join(path, name))}\n`)
  } else {
    await pipeline(createReadStream(path), hash)
  }
  return hash.digest('hex')
}

function recordOf(path: string, sha256: string): string {
  const files = statSync(path).isDirectory()
    ? readdirSync(path)
        .sort()
        .map(name => join(path, name))
    : [path]
  const states = files.map(file => statSync(file)).map(({ size, mtimeMs }) => `${size} ${mtimeMs}`)
  return `${sha256} ${states.join(' ')}\n`
}

interface FetchProgressOptions {
  /** Display name of the download. */
  name: string
  log: Log
  intervalMs: number
  /** Maven's folder for the jar during the download. */
  jarFolder: string
}

interface FetchProgress {
  /** Processes Maven's output. */
  onOutput(text: string): void
  stop(): void
}

const unitBytes: Record<string, number> = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9 }
const lineLengthMax = 4096

/** Maven's default. Where its settings name another folder, the jar counts once it is complete. */
function mavenJarFolder(...names: readonly string[]): string {
  return join(userInfo().homedir, '.m2', 'repository', ...names)
}

/** Logs at once, then every few seconds until stopped. */
export function reportFetch({ name, log, intervalMs, jarFolder }: FetchProgressOptions): FetchProgress {
  const startedMs = performance.now()
  let files = 0
  let bytesComplete = 0
  let rest = ''

  function report(): void {
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    const bytes = bytesComplete + bytesIncomplete(jarFolder)
    log.info({ files, bytes, seconds }, `downloading ${name}: ${megabytes(bytes)} MB, ${seconds} s`)
  }

  const timer = setInterval(report, intervalMs)
  return {
    onOutput(text) {
      const lines = (rest + text).split('\n')
      rest = (lines.pop() ?? '').slice(0, lineLengthMax)
      for (const line of lines) {
        const size = downloadedBytes(line)
        if (size === undefined) continue
        files++
        bytesComplete += size
      }
    },
    stop: () => clearInterval(timer),
  }
}

/** Parses a line such as `[INFO] Downloaded from central: https://…/a.jar (3.9 kB at 5.9 kB/s)`. */
function downloadedBytes(line: string): number | undefined {
  if (!line.includes('Downloaded from ')) return undefined
  const [amount, unit] = line.slice(line.lastIndexOf('(') + 1).split(' ')
  return Number(amount) * (unitBytes[unit ?? ''] ?? Number.NaN) || 0
}

/** Maven adds a suffix to the name of an incomplete file. */
function bytesIncomplete(folder: string): number {
  try {
    const names = readdirSync(folder).filter(name => name.includes('.jar.') && /(part|tmp)$/.test(name))
    return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  } catch {
    // The folder is missing, or the file was just renamed.
    return 0
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
