/** Logs the progress of Maven from its output and from the growing jar in its local repository. */

import { readdirSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Log } from '../log.ts'

export interface FetchProgressOptions {
  /** Display name of the download. */
  name: string
  log: Log
  intervalMs: number
  /** Maven's folder for the jar during the download. */
  jarFolder: string
}

export interface FetchProgress {
  /** Processes Maven's output. */
  onOutput(text: string): void
  stop(): void
}

const unitBytes: Record<string, number> = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9 }
const lineLengthMax = 4096

/** Maven's default. Where its settings name another folder, the jar counts once it is complete. */
export function mavenJarFolder(...names: readonly string[]): string {
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
