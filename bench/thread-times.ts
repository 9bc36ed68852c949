/** Processor time of a process by thread: on a loaded machine it holds where a rate does not. */

import { readdirSync, readFileSync } from 'node:fs'
import { median } from 'simple-statistics'
import { round, spread } from './measure.ts'

/** Seconds, of all threads of one name together. */
export type ThreadTimes = Readonly<Record<string, number>>

/** Linux's names of Node's threads. Unnamed workers belong to pools. */
const names: Record<string, string> = {
  MainThread: 'main',
  journal: 'journal',
  forwarder: 'forwarder',
  WorkerThread: 'pools',
  V8Worker: 'helpers of V8',
}

/** Returns processor times since the process began, by Linux's `schedstat`. */
export function threadTimes(pid: number): ThreadTimes {
  const times: Record<string, number> = {}
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const read = (file: string) => readFileSync(`/proc/${pid}/task/${thread}/${file}`, 'utf8')
    try {
      const name = names[read('comm').trim()] ?? 'others'
      times[name] = (times[name] ?? 0) + Number(read('schedstat').split(' ')[0]) / 1e9
    } catch (error) {
      // It has ended since it was listed.
      if (!goneCodes.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
  }
  return times
}

const goneCodes = new Set(['ENOENT', 'ESRCH'])

export function minus(times: ThreadTimes, before: ThreadTimes): ThreadTimes {
  return mapTimes(times, (seconds, name) => seconds - (before[name] ?? 0))
}

/** Separates the cost per reading from the cost per run, from runs of two sizes. */
export function slopeOf(
  small: { rows: number; times: ThreadTimes },
  large: { rows: number; times: ThreadTimes },
): { perRow: ThreadTimes; fixed: ThreadTimes } {
  const perRow = mapTimes(minus(large.times, small.times), seconds => seconds / (large.rows - small.rows))
  return { perRow, fixed: mapTimes(perRow, (seconds, name) => (small.times[name] ?? 0) - seconds * small.rows) }
}

/** Medians by thread, in microseconds for each reading, and the cost of each run over all threads, in milliseconds. */
export function costsOf(slopes: readonly ReturnType<typeof slopeOf>[]) {
  const names = Object.keys(slopes[0]?.perRow ?? {})
  const medianUs = (name: string) => round(median(slopes.map(({ perRow }) => 1e6 * (perRow[name] ?? 0))))
  return {
    readingUs: Object.fromEntries(names.map(name => [name, medianUs(name)])),
    allUs: spread(slopes.map(({ perRow }) => 1e6 * sumOf(perRow))),
    runMs: spread(slopes.map(({ fixed }) => 1e3 * sumOf(fixed))),
  }
}

export function sumOf(times: ThreadTimes): number {
  return Object.values(times).reduce((sum, seconds) => sum + seconds, 0)
}

function mapTimes(times: ThreadTimes, change: (seconds: number, name: string) => number): ThreadTimes {
  return Object.fromEntries(Object.entries(times).map(([name, seconds]) => [name, change(seconds, name)]))
}

export type ProcessTimes = Record<string, ThreadTimes>

/** The times of each process since its start. */
export function processTimes(pids: Record<string, number>): ProcessTimes {
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, threadTimes(pid)]))
}

/** The increase since `before`, multiplied by `factor`. */
export function timesSince(before: ProcessTimes, times: ProcessTimes, factor = 1): ProcessTimes {
  const of = (name: string, own: ThreadTimes) =>
    mapTimes(own, (seconds, thread) => seconds - factor * (before[name]?.[thread] ?? 0))
  return Object.fromEntries(Object.entries(times).map(([name, own]) => [name, of(name, own)]))
}
