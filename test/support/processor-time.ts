/** Processor time of this process and of its children, by proc(5). */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Positions of the user and system times, in clock ticks, behind the name of the program. */
const positions = { self: [11, 13], children: [13, 15] } as const

/** Children count once this process has waited for them. */
export function processorSecondsOf(part: keyof typeof positions): number {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(...positions[part])
    .map(Number)
  return (user + system) / ticksPerSecond()
}

let ticks: number | undefined

function ticksPerSecond(): number {
  ticks ??= Number(execFileSync('getconf', ['CLK_TCK']))
  return ticks
}
