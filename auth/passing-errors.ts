/** Recognizes temporary errors: the repeated request may succeed. */

import { isUnavailable } from '../store/postgres/postgres-errors.ts'
import { ChangeInDoubt } from './record-cache.ts'
import { TooBusy } from './too-busy.ts'

/** PostgreSQL does not answer, has not confirmed a change yet, or is overloaded. */
export function isPassing(error: unknown): boolean {
  return error instanceof ChangeInDoubt || error instanceof TooBusy || isUnavailable(error)
}
