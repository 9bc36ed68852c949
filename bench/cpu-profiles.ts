/** Processor time of the service's threads by source file, from the profiles of `--cpu-prof`. */

import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { round } from './measure.ts'

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[]
  samples: number[]
  timeDeltas: number[]
}

const filesShown = 12
const entryPoint = /(main|-thread|-worker)\.ts$/
const waiting = new Set(['(idle)', '(program)', '(root)'])

/** Options for the profiled Node process. */
export function profileOptions(folder: string): string {
  return `--cpu-prof --cpu-prof-dir=${folder}`
}

/** Microseconds for each of `rows`, by thread, of the most expensive files. Samples count even while others had the processor. */
export function fileTimes(folder: string, rows: number): Record<string, Record<string, number>> {
  const threads: Record<string, Record<string, number>> = {}
  for (const file of readdirSync(folder).filter(name => name.endsWith('.cpuprofile'))) {
    const profile: Profile = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    const urls = profile.nodes.map(({ callFrame }) => callFrame.url)
    const name = basename(urls.find(url => entryPoint.test(url)) ?? file)
    threads[`${name} ${file.split('.')[3]}`] = largest(timesOf(profile), rows)
  }
  return threads
}

function timesOf({ nodes, samples, timeDeltas }: Profile): Map<string, number> {
  const sources = new Map(nodes.map(({ id, callFrame }) => [id, sourceOf(callFrame)]))
  const times = new Map<string, number>()
  for (const [index, id] of samples.entries()) {
    const source = sources.get(id) ?? ''
    // The journal's thread waits in its own file, by `Atomics.wait`.
    if (waiting.has(source) || source === 'journal-thread.ts') continue
    times.set(source, (times.get(source) ?? 0) + (timeDeltas[index] ?? 0))
  }
  return times
}

function sourceOf({ functionName, url }: Profile['nodes'][number]['callFrame']): string {
  return url === '' ? functionName : basename(url)
}

function largest(times: Map<string, number>, rows: number): Record<string, number> {
  const sorted = [...times].sort(([, a], [, b]) => b - a)
  return Object.fromEntries(sorted.slice(0, filesShown).map(([source, us]) => [source, round(us / rows)]))
}
