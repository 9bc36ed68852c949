/** The topics of a service: one for each table, as that table's journal. */

export interface ServiceTopicNames {
  readings: string
  points: string
}

/**
 * The key of a topic's state in PostgreSQL, for each replica. The first replica's key equals the topic. Names of topics cannot
 * contain an `@`.
 */
export function stateKey(topic: string, replica: number): string {
  return replica === 1 ? topic : `${topic}@${replica}`
}

/** The journals of a replica and of the first one, for `settlePosition` and `positionIssue`. */
export function journalsOf(topic: string, replica: number) {
  return { journal: stateKey(topic, replica), firstJournal: replica === 1 ? undefined : topic }
}

/** The number of the replica whose state has this key. */
export function replicaOfSql(key: string): string {
  return `CASE split_part(${key}, '@', 2) WHEN '' THEN 1 ELSE split_part(${key}, '@', 2)::int END`
}

export function topicsOf(prefix: string): ServiceTopicNames {
  return { readings: `${prefix}readings-s1`, points: `${prefix}points-s1` }
}
