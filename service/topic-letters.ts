/** Warns of dead letters of Kafka topics in a service whose journals are on disk now. */

import type { Log } from '../store/log.ts'
import type { Store } from '../store/store.ts'

/** They stay in PostgreSQL and are not listed. */
export async function warnOfTopicLetters(postgres: Store['postgres'], log: Pick<Log, 'warn'>): Promise<void> {
  const { rows } = await postgres.query<{ count: number }>('SELECT count(*)::int AS count FROM replica_dead_letters')
  const letters = rows[0]?.count ?? 0
  if (letters === 0) return
  log.warn({ letters }, 'there are dead letters of Kafka topics, which are listed with KAFKA_BROKERS only')
}
