/** Declares the lines of a manifest. A restore writes the files that they name, so each has a bound. */

import { z } from 'zod'

export const formatVersion = 1

/** Folders of the parts; nothing else is ever written. */
export const partNames = ['journal', 'points-journal', 'questdb', 'postgres', 'secrets'] as const

const identifier = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/, 'must be the name of a table or a column')
const version = z.string().regex(/^\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+][0-9A-Za-z.+-]{1,50})?$/, 'must be a version')
const databaseVersion = z.string().max(100)

const tablesMax = 1000
const columnsMax = 1600
/** Some 270 years. */
const daysMax = 100_000
const migrationsMax = 1000
/** Two topics of each of 32 replicas. */
const topicsMax = 64
const sequenceMax = 9_223_372_036_854_775_807n

/** Day, number of rows, and sum of each column. */
const DaySums = z
  .array(z.string().max(40).nullable())
  .min(2)
  .max(columnsMax)
  .refine(([, rows]) => /^\d{1,19}$/.test(rows ?? ''), 'must have a number of rows')

const Table = z.object({
  name: identifier,
  columns: z.array(identifier).min(1).max(columnsMax),
  rows: z.int().min(0),
})

const Sequence = z.object({
  name: identifier,
  value: z.string().refine(isSequenceValue, 'must be from 1 to 2^63 - 1'),
  isCalled: z.boolean(),
})

export const ManifestHead = z.object({
  format: z.literal(formatVersion),
  version,
  createdAt: z.iso.datetime(),
  questdb: z.object({
    version: databaseVersion,
    days: z
      .record(identifier, z.array(DaySums).max(daysMax))
      .refine(days => Object.keys(days).length <= tablesMax, `must have at most ${tablesMax} tables`),
  }),
  postgres: z.object({
    version: databaseVersion,
    migrations: z.array(z.string().max(100)).min(1).max(migrationsMax),
    tables: z.array(Table).max(tablesMax),
    sequences: z.array(Sequence).max(tablesMax),
    /** Erase jobs that ended while the backup was made. */
    eraseAgain: z.array(z.int().min(1)).max(1_000_000),
  }),
  /** Only with Kafka: for each topic, the offset from which on QuestDB may lack records. */
  topics: z
    .array(z.object({ name: z.string().min(1).max(249), offset: z.int().min(0) }))
    .max(topicsMax)
    .optional(),
})
export type ManifestHead = z.infer<typeof ManifestHead>

/** Common part of the heads of all formats. */
export const WriterOfHead = z.object({ format: z.int().min(1), version })

const path = z.string().max(4096).refine(isPathOfPart, 'must be a path in one of the parts')
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')
/** Path, length in bytes, and digest. */
export const FileLine = z.tuple([path, z.int().min(0), sha256])
export const EndLine = z.object({ files: z.int().min(0), sha256 })

function isSequenceValue(text: string): boolean {
  return /^\d{1,19}$/.test(text) && BigInt(text) >= 1n && BigInt(text) <= sequenceMax
}

function isPathOfPart(path: string): boolean {
  const [part, ...names] = path.split('/')
  const isPlain = (name: string) => name !== '' && name !== '.' && name !== '..' && !name.includes('\0')
  return partNames.some(name => name === part) && names.length > 0 && names.every(isPlain)
}
