/** What the parts of `bench/auth.ts` share. */

import type { ChildProcess } from 'node:child_process'
import type { Bounds } from './bounds.ts'
import type { Hooks } from './measure.ts'

export interface AuthPlan {
  hooks: Hooks
  bounds: Bounds
  generator: ChildProcess
  connections: number
  pairs: number
  /** Of each measurement under load. */
  seconds: number
}
