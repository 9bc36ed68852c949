/** Shared parts of the benches: spreads, child processes and printed lines. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { max, median, min } from 'simple-statistics'
import type { LoadOrder, LoadResult } from './load-generator.ts'

/** Smallest, median and largest. */
export function spread(values: readonly number[]): { min: number; median: number; max: number } {
  const list = [...values]
  return { min: round(min(list)), median: round(median(list)), max: round(max(list)) }
}

/** Each of ours in multiples of the yardstick of its pair. */
export function ratios(ours: readonly number[], yardstick: readonly number[]): number[] {
  return ours.map((value, pair) => value / (yardstick[pair] ?? Number.NaN))
}

/** Three significant digits: a shared machine allows no better precision. */
export function round(value: number): number {
  return Number(value.toPrecision(3))
}

/** Starts a file of this folder as a process of its own. */
export function startProcess(file: string, programArguments: readonly string[] = []): ChildProcess {
  return fork(join(import.meta.dirname, file), programArguments, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}

export async function runLoad(generator: ChildProcess, order: LoadOrder): Promise<LoadResult> {
  const answered = once(generator, 'message')
  generator.send(order)
  const [result] = await answered
  return result as LoadResult
}

/** The machine, as far as a reader needs it to compare figures. */
export function hardware(): string {
  const model = cpus()[0]?.model ?? 'unknown processor'
  const memory = /MemTotal:\s+(\d+)/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? '0'
  return `${cpus().length} x ${model}, ${Math.round(Number(memory) / 1024 / 1024)} GiB, Node ${process.version}`
}

/** Resident memory of a process, and the highest since its start or since `forgetPeak`. */
export function residentMegabytes(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kibibytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1])
  return { now: round((kibibytes('VmRSS') * 1024) / 1e6), peak: round((kibibytes('VmHWM') * 1024) / 1e6) }
}

export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

export function printResult(result: object): void {
  process.stdout.write(`${JSON.stringify(result)}\n`)
}

export interface Hooks {
  teardown(work: () => unknown): void
}

/** Closes started parts in reverse order. */
export function createHooks(): { hooks: Hooks; closeAll: () => Promise<void> } {
  const closers: (() => unknown)[] = []
  return {
    hooks: { teardown: work => void closers.unshift(work) },
    async closeAll() {
      for (const close of closers) await close()
    },
  }
}

export function assertAllTaken({ answers, statuses }: LoadResult): void {
  if (statuses['200'] !== answers) throw new Error(`not all were taken: ${JSON.stringify(statuses)}`)
}

export function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
