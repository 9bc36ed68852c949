/**
 * Which cluster and which topics are the journal of a database: PostgreSQL knows it from the first start on. Another Kafka with topics
 * of the same names would take readings that no process of this service ever shows.
 */

import type pg from 'pg'

/** Plain data, so that it can go to a thread. */
export interface KafkaIdentity {
  clusterId: string
  /** By the name of the topic: another one for a topic that was deleted and made again. */
  topicIds: Readonly<Record<string, string>>
}

type Database = Pick<pg.ClientBase, 'query'>

/** Topics that PostgreSQL does not know yet are known from now on. Resolves to the same as `identityDifference`. */
export async function agreeOnKafka(database: Database, found: KafkaIdentity): Promise<string | undefined> {
  await database.query({
    text: noteSql,
    values: [found.clusterId, Object.keys(found.topicIds), Object.values(found.topicIds)],
    query_timeout: answerMsMax,
  } as pg.QueryConfig)
  return await identityDifference(database, found)
}

/** A sentence where PostgreSQL knows another cluster or other topics under these names. Changes nothing. */
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
