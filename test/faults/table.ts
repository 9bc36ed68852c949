/** The figures of a run as a table for people. */

import { cpus, release, totalmem } from 'node:os'
import { violationNames } from './oracle.ts'
import { percentile, sumOf, type Tally } from './tally.ts'

const columns = ['crashes', 'acknowledged', ...violationNames, 'other', 'p50 ms', 'p99 ms'] as const

export function tableOf(tallies: readonly Tally[], whats: ReadonlyMap<string, string>): string {
  const head = ['row', ...columns, 'what']
  const lines = [...tallies, sumOf(tallies, 'all')].map(tally => [...cellsOf(tally), whats.get(tally.row) ?? ''])
  const widths = head.map((name, index) => Math.max(name.length, ...lines.map(line => line[index]?.length ?? 0)))
  const format = (cells: string[]) =>
    cells
      .map((cell, index) => (index === head.length - 1 ? cell : cell.padStart(widths[index] ?? 0)))
      .join('  ')
      .trimEnd()
  return [format(head), ...lines.map(format)].join('\n')
}

function cellsOf(tally: Tally): string[] {
  const { row, crashes, acknowledged, violations, problems, recoveriesMs } = tally
  const counts = [crashes, acknowledged, ...violationNames.map(name => violations[name]), problems.length]
  const recovery = [0.5, 0.99].map(share => {
    const ms = percentile(recoveriesMs, share)
    return ms === undefined ? '-' : String(Math.round(ms))
  })
  return [row, ...counts.map(String), ...recovery]
}

/** What a run without a loss says of the chance of one: with 95 % certainty less than 3/n for each crash. */
export function summaryOf(tallies: readonly Tally[], seed: number, elapsedMs: number): string {
  const { crashes, acknowledged, unknown, unknownStored, recoveriesMs, shownMs } = sumOf(tallies, 'all')
  const bound = crashes === 0 ? 'none' : `${((3 / crashes) * 100).toFixed(2)} % for each crash (3/${crashes}, 95 %)`
  const [p50, p99] = [percentile(recoveriesMs, 0.5), percentile(recoveriesMs, 0.99)]
  const [processor] = cpus()
  return [
    `crashes ${crashes}, acknowledged ${acknowledged}, without an answer ${unknown} (of those stored ${unknownStored})`,
    `recovery of the service, kill to first 200: p50 ${Math.round(p50 ?? 0)} ms, p99 ${Math.round(p99 ?? 0)} ms, of ${recoveriesMs.length}`,
    ...(shownMs.length === 0 ? [] : [shownText(shownMs)]),
    `bound on the chance of a loss: ${bound}`,
    `hardware: ${cpus().length} × ${processor?.model ?? 'unknown'}, ${Math.round(totalmem() / 1024 ** 3)} GiB, Linux ${release()}`,
    `seed ${seed} (each experiment's is printed where it fails), ${Math.round(elapsedMs / 60_000)} minutes`,
  ].join('\n')
}

export function shownText(shownMs: readonly number[]): string {
  const [p50, max] = [percentile(shownMs, 0.5), Math.max(...shownMs)]
  return `last fault until all is shown: p50 ${Math.round(p50 ?? 0)} ms, at most ${max} ms, of ${shownMs.length}`
}
