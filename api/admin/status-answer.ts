/** Declares the answer of `GET /status`. */

import { z } from 'zod'
import { waitReasons } from '../../service/lifecycle/retention/wait-reasons.ts'

const Database = z.object({
  /** `own` is started by the service, `given` is an external database. */
  kind: z.enum(['own', 'given']),
  state: z.enum(['starting', 'up', 'away']),
  reason: z.string().nullable(),
  version: z.string().nullable(),
})

const journalFields = {
  bytes: z.number(),
  bytes_max: z.number(),
  /** Damaged bytes that were cut off or set aside. */
  damaged_bytes: z.number(),
  /** Reason why it cannot be written, or read and trimmed, at present. */
  fault: z.string().nullable(),
}

const ReplicaStatus = z.object({
  number: z.int(),
  /** True if this process reads it. */
  is_read: z.boolean(),
  state: z.string(),
  /** Reason while it is down, lost or different; null otherwise. */
  reason: z.string().nullable(),
  /** Duration for which it has shown less than another replica. */
  behind_seconds: z.number(),
  /**
   * Host and number of the process that forwards to it. Null before the first process, after it has released the
   * replica, and while PostgreSQL does not answer. A killed process stays until another one forwards.
   */
  holder: z.string().nullable(),
  since: z.iso.datetime().nullable(),
})
export type ReplicaStatus = z.infer<typeof ReplicaStatus>

const TopicStatus = z.object({
  topic: z.string(),
  /** Latest offsets that Kafka has reported; null until the first report. */
  offsets: z
    .object({
      /** Offsets of Kafka's first record and of its next one. */
      start: z.int(),
      end: z.int(),
      /** QuestDB has all records before it. */
      committed: z.int(),
    })
    .nullable(),
  /** Receipt time of the oldest record that QuestDB does not have; null if none is pending. */
  oldest: z.iso.datetime().nullable(),
  replicas: z.int().nullable(),
  in_sync: z.int().nullable(),
  /** Null while it is unknown and if Kafka deletes nothing. */
  retention_seconds: z.number().nullable(),
  /** Age of the oldest pending record as a share of Kafka's retention. From 0.8 on, writes are refused. */
  retention_used: z.number().nullable(),
  problems: z.array(z.string()),
})

export type TopicStatus = z.infer<typeof TopicStatus>

const NodeStatus = z.object({
  /** Each start has a new id. */
  id: z.string(),
  /** True for the answering node. */
  is_self: z.boolean(),
  role: z.string(),
  version: z.string(),
  host: z.string(),
  started: z.iso.datetime(),
  /** True if it runs the work that one node does for all. */
  leads: z.boolean(),
  /** A node without a valid lease refuses requests. A node that ended without leaving is listed for ten minutes. */
  lease_valid: z.boolean(),
  /** Time since the renewal; null once it was released. */
  lease_age_s: z.number().nullable(),
  /** Number of the last applied change of a registry. */
  applied_change: z.int(),
  /** Offset of its clock to PostgreSQL's clock; null until it was measured. */
  clock_ahead_s: z.number().nullable(),
  problems: z.array(z.string()),
})

export type NodeStatus = z.infer<typeof NodeStatus>

export const Status = z.object({
  versions: z.object({ barograph: z.string(), node: z.string(), java: z.string().nullable() }),
  uptime_s: z.number(),
  devices: z.int(),
  questdb: Database.extend({
    /** With `sync`, applied rows survive a power cut. */
    commit_mode: z.string().nullable(),
    /** A suspended table accepts readings without showing them. */
    suspended: z.boolean(),
    /** Reason why it accepts nothing at present. */
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
  dead_letters: z.int(),
  /** The same for points of air-quality stations, which have their own journal and table. */
  points: z.object({
    journal: z.object({ ...journalFields, points: z.number() }),
    lag: z.object({ points: z.number(), seconds: z.number() }),
    dead_letters: z.int(),
    suspended: z.boolean(),
    fault: z.string().nullable(),
  }),
  /** Present if Kafka topics are the journals. */
  kafka: z
    .object({
      topics: z.array(TopicStatus),
      replicas: z.array(ReplicaStatus).optional(),
    })
    .optional(),
  /** Nodes that take requests, oldest first. Only the answering node while PostgreSQL does not answer. */
  nodes: z.array(NodeStatus).optional(),
  /** State of rule evaluation; present in the process that evaluates. */
  alerts: z
    .object({
      /** Changes without a commit. */
      backlog: z.int(),
      /** Changes that PostgreSQL has refused for their content since the start. */
      refused: z.int(),
      /** Rules that cover fewer devices than they select, because the pairs exceed the limit; the first 20. */
      partial_rules: z.array(z.int()).default([]),
    })
    .optional(),
  /** Port for devices; null without MQTT_PORT. */
  mqtt_port: z.int().nullable(),
  /** READS: `open` lets everybody read devices. */
  reads: z.enum(['open', 'private']),
  /** Work that is not repeated because it once ended the service or rule evaluation; the newest 20. */
  set_aside: z
    .array(z.object({ kind: z.string(), id: z.string(), at: z.iso.datetime(), problem: z.string() }))
    .optional(),
  retention: z.object({
    /** RETENTION_DAYS; null if readings never expire, which disables the check. */
    days: z.int().nullable(),
    oldest_day: z.iso.date().nullable(),
    /** Days removed since the start. */
    expired_days: z.int(),
    last_run: z.iso.datetime().nullable(),
    fault: z.string().nullable(),
    /** Due days that stay until a person confirms their deletion, or newer readings arrive. */
    waiting: z
      .object({
        /** The oldest day, and the day after the last one. */
        from: z.iso.date(),
        before: z.iso.date(),
        /** Number of these days with raw readings. */
        days: z.int(),
        reason: z.enum(waitReasons),
      })
      .nullable(),
  }),
  disk: z.object({
    path: z.string(),
    free_bytes: z.number(),
    total_bytes: z.number(),
    /** Space on the service's own disk, measured once an hour. Null until then, and for an external database. */
    journal_bytes: z.number().nullable(),
    questdb_bytes: z.number().nullable(),
    postgres_bytes: z.number().nullable(),
    /** Growth over the last two weeks; null with less than four days of data. */
    growth_bytes_per_day: z.number().nullable(),
    /** Null if unknown, if nothing grows, and if the oldest readings expire before. */
    days_until_full: z.number().nullable(),
  }),
})
export type Status = z.infer<typeof Status>
