-- The topics of Kafka that are the journal of this database: the same names at another cluster are other topics.

CREATE TABLE kafka_topics (
  topic text PRIMARY KEY,
  cluster_id text NOT NULL,
  -- Another one after the topic was deleted and made again.
  topic_id text NOT NULL,
  noted_at timestamptz NOT NULL DEFAULT now()
);
