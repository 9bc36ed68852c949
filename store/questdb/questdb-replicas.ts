/** The QuestDBs of a service, one for each replica, and their names in messages. */

import type { Questdb } from './questdb.ts'

interface Numbered {
  /** Counted from 1. */
  readonly number: number
}

export interface QuestdbReplica<Part = Questdb> extends Numbered {
  readonly questdb: Part
}

/** Prefix of a message about a replica. Empty with a single replica. */
export function replicaPrefix(replicas: readonly Numbered[], { number }: Numbered): string {
  return replicas.length > 1 ? `replica ${number}: ` : ''
}

/**
 * Resolves when the work has ended at each replica. Rejects with the failure of the first replica that failed, after all have
 * ended.
 */
export async function atEachReplica<Replica extends Numbered, Result>(
  replicas: readonly Replica[],
  work: (replica: Replica) => Promise<Result>,
): Promise<Result[]> {
  const ended = await Promise.allSettled(replicas.map(work))
  return ended.map(one => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

/** Adds the replica to the error's message where there are several. */
export function replicaFault(replicas: readonly Numbered[], replica: Numbered, error: unknown): unknown {
  if (replicas.length === 1) return error
  const message = error instanceof Error ? error.message : String(error)
  return new Error(`${replicaPrefix(replicas, replica)}${message}`, { cause: error })
}
