/** What `GET /status` answers. */

import { z } from 'zod'
import { waitReasons } from '../../service/lifecycle/retention/wait-reasons.ts'

const Database = z.object({
  /** Started here, or one that was given. */
  kind: z.enum(['own', 'given']),
  state: z.enum(['starting', 'up', 'away']),
  reason: z.string().nullable(),
  version: z.string().nullable(),
})

const journalFields = {
  bytes: z.number(),
  bytes_max: z.number(),
  /** Bytes that were cut off or put aside because they were damaged. */
  damaged_bytes: z.number(),
  /** Why it cannot be written, or read and trimmed, at present. */
  fault: z.string().nullable(),
}

const ReplicaStatus = z.object({
  number: z.int(),
  /** Whether this process reads it. */
  is_read: z.boolean(),
  state: z.string(),
  /** The reason why it is not up, is lost, or differs; null otherwise. */
  reason: z.string().nullable(),
  /** The time for which it has shown less than another replica. */
  behind_seconds: z.number(),
  /**
   * The host and number of the process that forwards to it. Null before the first one, when the last one has given that up, and while
   * PostgreSQL does not answer; one that was killed stays until another one forwards.
   */
  holder: z.string().nullable(),
  since: z.iso.datetime().nullable(),
})
export type ReplicaStatus = z.infer<typeof ReplicaStatus>

const TopicStatus = z.object({
  topic: z.string(),
  /** As Kafka last told it; null until the first time. */
  offsets: z
    .object({
      /** Of the first record that Kafka has, and of the next one to come. */
      start: z.int(),
      end: z.int(),
      /** Everything before it is in QuestDB. */
      committed: z.int(),
    })
    .nullable(),
  /** When the oldest record came that is not in QuestDB; null when none waits. */
  oldest: z.iso.datetime().nullable(),
  replicas: z.int().nullable(),
  in_sync: z.int().nullable(),
  /** Null while it is not known, and when Kafka deletes nothing. */
  retention_seconds: z.number().nullable(),
  /** How much of it the oldest record that waits has used, 1 for all of it. From 0.8 on nothing is taken. */
  retention_used: z.number().nullable(),
  problems: z.array(z.string()),
})

export type TopicStatus = z.infer<typeof TopicStatus>

const NodeStatus = z.object({
  /** Another one after each start. */
  id: z.string(),
  /** Whether it is the one that answers. */
  is_self: z.boolean(),
  role: z.string(),
  version: z.string(),
  host: z.string(),
  started: z.iso.datetime(),
  /** Whether it does what one node does for all. */
  leads: z.boolean(),
  /** Without a valid lease it lets nobody in. One that has ended without a word is told of for ten minutes. */
  lease_valid: z.boolean(),
  /** Since it was renewed; null once it was given up. */
  lease_age_s: z.number().nullable(),
  /** The number of the last change of a registry that it has applied. */
  applied_change: z.int(),
  /** By how much its clock is ahead of PostgreSQL's clock; null until it was measured. */
  clock_ahead_s: z.number().nullable(),
  problems: z.array(z.string()),
})

export type NodeStatus = z.infer<typeof NodeStatus>

export const Status = z.object({
  versions: z.object({ barograph: z.string(), node: z.string(), java: z.string().nullable() }),
  /** Of the process. */
  uptime_s: z.number(),
  devices: z.int(),
  questdb: Database.extend({
    /** `sync` when what it has applied survives a power cut. */
    commit_mode: z.string().nullable(),
    /** A suspended table of readings takes them and shows none of them. */
    suspended: z.boolean(),
    /** Why it takes nothing at present. */
    fault: z.string().nullable(),
  }),
  postgres: Database,
  journal: z.object({
    ...journalFields,
    /** Readings made durable since the start. */
    readings: z.number(),
  }),
  /** Readings in the journal that are not yet visible to queries, and the age of the oldest. */
  lag: z.object({ readings: z.number(), seconds: z.number() }),
  /** Of the readings. */
  dead_letters: z.int(),
  /** The same of the points of air-quality stations, which have a journal and a table of their own. */
  points: z.object({
    journal: z.object({ ...journalFields, points: z.number() }),
    lag: z.object({ points: z.number(), seconds: z.number() }),
    dead_letters: z.int(),
    suspended: z.boolean(),
    fault: z.string().nullable(),
  }),
  /** Only where topics of Kafka are the journals. */
  kafka: z
    .object({
      topics: z.array(TopicStatus),
      /** The replicas of QuestDB. */
      replicas: z.array(ReplicaStatus).optional(),
    })
    .optional(),
  /** Those that take requests, oldest first, where there may be several; only the one that answers while PostgreSQL does not answer. */
  nodes: z.array(NodeStatus).optional(),
  /** Of the evaluation of rules; only from a process that does it. */
  alerts: z
    .object({
      /** Changes that are not committed yet. */
      backlog: z.int(),
      /** Changes that PostgreSQL has refused for their content since the start. */
      refused: z.int(),
      /** Rules that cover fewer devices than they select, as there would be too many pairs; the first 20. */
      partial_rules: z.array(z.int()).default([]),
    })
    .optional(),
  /** On which devices publish; null where MQTT_PORT is not set. */
  mqtt_port: z.int().nullable(),
  /** READS: who can read devices. */
  reads: z.enum(['open', 'private']),
  /** Work that ended the service, or the evaluation of rules, once, and is not repeated; the newest 20. */
  set_aside: z
    .array(z.object({ kind: z.string(), id: z.string(), at: z.iso.datetime(), problem: z.string() }))
    .optional(),
  /** Of the raw readings. */
  retention: z.object({
    /** RETENTION_DAYS; null when they never expire, and then nothing is looked at. */
    days: z.int().nullable(),
    oldest_day: z.iso.date().nullable(),
    /** Days that were removed since the start. */
    expired_days: z.int(),
    last_run: z.iso.datetime().nullable(),
    /** Why that run failed. */
    fault: z.string().nullable(),
    /** Days that are due by the clock, and stay until a person confirms that they expire, or newer readings come. */
    waiting: z
      .object({
        /** The oldest one, and the day behind the last one. */
        from: z.iso.date(),
        before: z.iso.date(),
        /** Of these, those that have raw readings. */
        days: z.int(),
        reason: z.enum(waitReasons),
      })
      .nullable(),
  }),
  disk: z.object({
    path: z.string(),
    free_bytes: z.number(),
    total_bytes: z.number(),
    /** What is on this disk of ours, measured once an hour: null until then, and for an external database. */
    journal_bytes: z.number().nullable(),
    questdb_bytes: z.number().nullable(),
    postgres_bytes: z.number().nullable(),
    /** By the last two weeks; null while there are fewer than four days to tell by. */
    growth_bytes_per_day: z.number().nullable(),
    /** Null when it is not known, when nothing grows, and when the oldest readings expire before. */
    days_until_full: z.number().nullable(),
  }),
})
export type Status = z.infer<typeof Status>
