/** What an error of PostgreSQL means: a database that is away is the world's failure, a wrong statement is ours. */

import pg from 'pg'

// Connection lost, out of resources, shut down or cancelled, not writable (a standby), disk: SQLSTATE classes.
const passingClasses = /^(08|53|57|58|25006)/
// What the driver says without a code, when the connection is not there or does not answer.
const driverSays =
  /^(Connection terminated|timeout exceeded|timeout expired|Client has encountered|Query read timeout|Cannot use a pool)/

export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof pg.DatabaseError) return passingClasses.test(error.code ?? '')
  // Errors of the operating system: ECONNREFUSED, ECONNRESET, ENOENT of a socket file.
  if ('syscall' in error || error instanceof AggregateError) return true
  return driverSays.test(error.message)
}

/** A name that another record has by now: the last guard, since memory is asked first. */
export function isNameTaken(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505' && error.constraint === 'devices_name'
}
