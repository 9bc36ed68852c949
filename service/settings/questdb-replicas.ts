/**
 * Parses QUESTDB_REPLICAS: the QuestDBs of the replicas after the first one, which QUESTDB_HTTP and QUESTDB_PG address.
 */

import { z } from 'zod'
import { databaseUrl } from './setting-values.ts'

/** Values like QUESTDB_HTTP and QUESTDB_PG of replica 1. */
export interface ReplicaSetting {
  number: number
  http: string
  pg: string
}

/** Including the first one: each process opens all of them. */
export const replicasMax = 8
const http = databaseUrl(/^https?:$/, '')
const pg = databaseUrl(/^postgres(ql)?:$/, '')

/** The first one is replica 2, and numbers have no gaps. */
export const questdbReplicas = z
  .string()
  .transform(text => text.trim().split(/\s+/).map(readReplica))
  .refine(
    replicas => replicas.length < replicasMax && replicas.every((replica, at) => replica?.number === at + 2),
    'must name the QuestDBs of the replicas from 2 on, such as 2=http://user:password@host:9000,postgresql://user:password@host:8812/qdb',
  )
  .transform(replicas => replicas.flatMap(replica => replica ?? []))

function readReplica(text: string): ReplicaSetting | undefined {
  const at = text.indexOf('=')
  const number = Number(text.slice(0, Math.max(at, 0)))
  // An address may have a comma, too.
  const comma = text.lastIndexOf(',postgres')
  const [httpUrl, pgUrl] = [text.slice(at + 1, Math.max(comma, 0)), text.slice(comma + 1)]
  const isValid = http.safeParse(httpUrl).success && pg.safeParse(pgUrl).success
  return isValid ? { number, http: httpUrl, pg: pgUrl } : undefined
}
