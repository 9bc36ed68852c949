/** Errors by which a request is refused for the moment: sent again, it may be taken. */

import { isUnavailable } from '../store/postgres/postgres-errors.ts'
import { ChangeInDoubt } from './record-cache.ts'
import { TooBusy } from './too-busy.ts'

/** PostgreSQL does not answer, has not confirmed a change yet, or too much is asked of it. */
export function isPassing(error: unknown): boolean {
  return error instanceof ChangeInDoubt || error instanceof TooBusy || isUnavailable(error)
}
