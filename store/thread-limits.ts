/**
 * Memory limits of each kind of worker thread, as `resourceLimits` of node:worker_threads, in MiB. Without a limit V8 reserves a
 * hundred for a thread's short-lived values ("young"). Typed arrays lie outside the heap and are not counted.
 */

import type { ResourceLimits } from 'node:worker_threads'

const importer = { maxYoungGenerationSizeMb: 24 }
/** A query with a larger heap ends its thread instead of the process. A large answer takes some tens. */
const maxOldGenerationSizeMb = 512

export const threadLimits = {
  /** It produces almost no garbage. */
  journal: { maxYoungGenerationSizeMb: 4 },
  /** Kafka's client allocates some objects per request. */
  topicJournal: { maxYoungGenerationSizeMb: 8 },
  /** A group of 100,000 rows is held as plain arrays. */
  archive: { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 },
  copies: { maxYoungGenerationSizeMb: 4 },
  /** Its hashes lie outside the heap. */
  passwords: { maxYoungGenerationSizeMb: 2 },
  forwarder: { maxYoungGenerationSizeMb: 6 },
  readingsImport: importer,
  contentFilesImport: importer,
  lightQueries: { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: 32 },
  /** A small limit makes V8 free used typed arrays soon: a thread grows by 50 MB, and by 90 with 32. */
  analyses: { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: 8 },
  /** A million pairs take up to 300 MB. Firing ones have states, and transitions while PostgreSQL is unavailable. */
  alerts: { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16 },
} as const satisfies Record<string, ResourceLimits>
