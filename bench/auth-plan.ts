/** Shared parts of `bench/auth.ts`. */

import type { ChildProcess } from 'node:child_process'
import type { Bounds } from './bounds.ts'
import type { Hooks } from './measure.ts'

export interface AuthPlan {
  hooks: Hooks
  bounds: Bounds
  generator: ChildProcess
  connections: number
  pairs: number
  /** The duration of each measurement under load. */
  seconds: number
}
