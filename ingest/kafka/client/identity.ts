/**
 * The cluster and the topics that are the journal of a database, recorded in PostgreSQL at the first start. Another Kafka with
 * topics of the same names would accept readings that this service never shows.
 */

import type pg from 'pg'

/** Plain data, so that it can be posted to a thread. */
export interface KafkaIdentity {
  clusterId: string
  /** Keys are names of topics. The id changes when a topic is deleted and created again. */
  topicIds: Readonly<Record<string, string>>
}

type Database = Pick<pg.ClientBase, 'query'>

/** Records topics that PostgreSQL does not know yet. Resolves like `identityDifference`. */
export async function agreeOnKafka(database: Database, found: KafkaIdentity): Promise<string | undefined> {
  await database.query({
    text: noteSql,
    values: [found.clusterId, Object.keys(found.topicIds), Object.values(found.topicIds)],
    query_timeout: answerMsMax,
  } as pg.QueryConfig)
  return await identityDifference(database, found)
}

/** Returns a sentence when PostgreSQL has another cluster or other topics under these names. Changes nothing. */
export async function identityDifference(database: Database, found: KafkaIdentity): Promise<string | undefined> {
  const { rows } = await database.query<{ topic: string; clusterId: string; topicId: string }>({
    text: knownSql,
    values: [Object.keys(found.topicIds)],
    query_timeout: answerMsMax,
  } as pg.QueryConfig)
  for (const { topic, clusterId, topicId } of rows) {
    if (clusterId !== found.clusterId) {
      const where = `Kafka at KAFKA_BROKERS is the cluster ${found.clusterId}, and the topic ${topic}`
      return `${where} of this database is in the cluster ${clusterId}: correct KAFKA_BROKERS, or set ${remedy}.`
    }
    if (topicId !== found.topicIds[topic]) {
      return `The topic ${topic} was deleted and made again, so it is not the journal of this database: set ${remedy}.`
    }
  }
  return undefined
}

const remedy = 'another KAFKA_TOPIC_PREFIX to move to new topics (docs/kafka.md)'
const answerMsMax = 5000
const noteSql = `INSERT INTO kafka_topics (topic, cluster_id, topic_id)
  SELECT topic, $1, topic_id FROM unnest($2::text[], $3::text[]) AS found (topic, topic_id)
  ON CONFLICT (topic) DO NOTHING`
const knownSql = `SELECT topic, cluster_id AS "clusterId", topic_id AS "topicId" FROM kafka_topics
  WHERE topic = ANY ($1) ORDER BY topic`
