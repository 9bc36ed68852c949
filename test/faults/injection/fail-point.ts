/** SIGKILL at the n-th pass of one point. Each thread counts its own passes; no two threads have a point in common but `directory-sync`. */

import { type FailPoint, readFaultSettings } from './settings.ts'

export const faults = readFaultSettings(process.env)

let passes = 0

export function pass(point: FailPoint): void {
  const { FAIL_POINT: deadly } = faults
  if (point === deadly?.name && ++passes === deadly.pass) process.kill(process.pid, 'SIGKILL')
}
