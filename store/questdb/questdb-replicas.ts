/** The QuestDBs of a service, one for each replica, and how one is named where there are several. */

import type { Questdb } from './questdb.ts'

interface Numbered {
  /** From 1 on. */
  readonly number: number
}

export interface QuestdbReplica<Part = Questdb> extends Numbered {
  readonly questdb: Part
}

/** The prefix of a message about a replica; empty where there is only one. */
export function replicaPrefix(replicas: readonly Numbered[], { number }: Numbered): string {
  return replicas.length > 1 ? `replica ${number}: ` : ''
}

/** Resolves when the work has ended at each of them; rejects as that of the first where it failed, and not before all have ended. */
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

/** The error with the replica in its message, where there are several. */
export function replicaFault(replicas: readonly Numbered[], replica: Numbered, error: unknown): unknown {
  if (replicas.length === 1) return error
  const message = error instanceof Error ? error.message : String(error)
  return new Error(`${replicaPrefix(replicas, replica)}${message}`, { cause: error })
}
