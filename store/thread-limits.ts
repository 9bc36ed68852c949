/**
 * How much memory each kind of worker thread may take, as `resourceLimits` of node:worker_threads, in MiB. Without a limit V8
 * keeps a hundred for the short-lived values ("young") of a thread. Typed arrays lie outside the heap and are not counted.
 */

import type { ResourceLimits } from 'node:worker_threads'

const importer = { maxYoungGenerationSizeMb: 24 }
/** A query whose heap takes more ends its thread, and not the process; a large answer takes some tens. */
const maxOldGenerationSizeMb = 512

export const threadLimits = {
  /** It makes next to no garbage. */
  journal: { maxYoungGenerationSizeMb: 4 },
  /** Kafka's client makes some objects a request. */
  topicJournal: { maxYoungGenerationSizeMb: 8 },
  /** A group of 100,000 rows is in memory as plain arrays. */
  archive: { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 },
  copies: { maxYoungGenerationSizeMb: 4 },
  /** Its hashes lie outside the heap. */
  passwords: { maxYoungGenerationSizeMb: 2 },
  forwarder: { maxYoungGenerationSizeMb: 6 },
  readingsImport: importer,
  contentFilesImport: importer,
  lightQueries: { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: 32 },
  /** With little room typed arrays that have served are freed soon: a thread grows by 50 MB, and by 90 with 32. */
  analyses: { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: 8 },
  /** States of pairs that fire, and their transitions while PostgreSQL is away. */
  alerts: { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: 16 },
} as const satisfies Record<string, ResourceLimits>
