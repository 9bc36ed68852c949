/** Imports and removes content files in batches: each batch is read in a thread and is one transaction. */

import type pg from 'pg'
import { Piscina } from 'piscina'
import { inTransaction, type Transaction } from '../../../store/postgres/transaction.ts'
import { threadLimits } from '../../../store/thread-limits.ts'
import type { ChangedFiles, ImportedFiles } from './answer.ts'
import { type Batch, type ReferenceTable, referenceTables } from './batch.ts'
import { changeNamed, type Merged, mergeFiles, type NameAction } from './files.ts'
import type { ReadFiles, ReadNames, ReadTask } from './worker.ts'

export type Refused = 'TOO_BUSY' | 'CLOSING'

interface ImportAudit {
  actor: string
  action: string
  details: Record<string, number>
}

/** `by` is the requester, for the audit. */
export interface ContentFileImporter {
  /** Resolves when the valid lines of a body of NDJSON are stored. */
  importFiles(body: Uint8Array, by: string): Promise<ImportedFiles | Refused>
  /** Resolves when the named files are unpublished or removed. */
  changeNamed(action: NameAction, body: Uint8Array, by: string): Promise<ChangedFiles | Refused>
  close(): Promise<void>
}

export interface ImporterOptions {
  postgres: pg.Pool
  /** Writes the change into the audit, in the same transaction. */
  audit: (transaction: Transaction, entry: ImportAudit) => Promise<void>
}

/** Each batch is in memory, and they are stored one after the other. */
const batchesMax = 4
const idleMsMax = 10_000

export function createContentFileImporter({ postgres, audit }: ImporterOptions): ContentFileImporter {
  const pool = new Piscina({
    filename: new URL('./worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleMsMax,
    maxQueue: batchesMax,
    resourceLimits: threadLimits.contentFilesImport,
  })
  const running = new Set<Promise<unknown>>()
  let isClosing = false

  async function take<Answer>(work: () => Promise<Answer>): Promise<Answer | Refused> {
    if (isClosing) return 'CLOSING'
    if (running.size >= batchesMax) return 'TOO_BUSY'
    const batch = work()
    running.add(batch)
    try {
      return await batch
    } finally {
      running.delete(batch)
    }
  }

  /**
   * The thread gets a copy: transferred memory would be gone here, and a small buffer shares its memory with others.
   */
  async function read<Result>(name: 'readFiles' | 'readNames', body: Uint8Array): Promise<Result> {
    const task: ReadTask = { body: new Uint8Array(body) }
    return await pool.run(task, { name, transferList: [task.body.buffer] })
  }

  async function importFiles(body: Uint8Array, by: string): Promise<ImportedFiles> {
    const files = await read<ReadFiles>('readFiles', body)
    const { accepted, rejected, rejects, ignoredFields: ignored_fields } = files
    const merged =
      accepted === 0 ? { added: 0, changed: 0 } : await transact(postgres, transaction => merge(transaction, files, by))
    return { accepted, rejected, rejects, rejects_truncated: rejects.length < rejected, ...merged, ignored_fields }
  }

  async function merge(transaction: Transaction, files: ReadFiles, actor: string): Promise<Merged> {
    const isReferenceNew = await mergeReferences(transaction, files.references)
    const featureSetIds = await mergeFeatureSets(transaction, files)
    const merged = await mergeFiles(transaction, { rows: files.files, featureSetIds, highestId: files.highestId })
    if (isReferenceNew || merged.added + merged.changed > 0) {
      await audit(transaction, { actor, action: 'import', details: { ...merged } })
    }
    return merged
  }

  async function change(action: NameAction, body: Uint8Array, actor: string): Promise<ChangedFiles> {
    const { accepted, rejected, rejects, names } = await read<ReadNames>('readNames', body)
    const result = await transact(postgres, async transaction => {
      const { changed, unknown } = await changeNamed(transaction, action, names)
      if (changed > 0) await audit(transaction, { actor, action, details: { changed } })
      return { changed, unknown }
    })
    return { accepted, rejected, rejects, rejects_truncated: rejects.length < rejected, ...result }
  }

  return {
    importFiles: (body, by) => take(() => importFiles(body, by)),
    changeNamed: (action, body, by) => take(() => change(action, body, by)),
    async close() {
      isClosing = true
      await Promise.allSettled(running)
      await pool.destroy()
    },
  }
}

/** A batch on a slow disk takes longer than a query may. */
const statementMsMax = 60_000
/** PostgreSQL ends a slow statement by itself; if the server is frozen, the client gives up a little later. */
const answerMsMax = statementMsMax + 5_000

/** Every change locks this row first: otherwise two batches could deadlock on each other's rows. */
const lockSql = 'SELECT FROM content_version FOR UPDATE'

/** One change of the content files. Changes are atomic and run one at a time. */
function transact<Result>(postgres: pg.Pool, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
  return inTransaction(postgres, { stepMs: answerMsMax }, async transaction => {
    // The pool's own limit is for usual statements.
    await transaction.query(`SET LOCAL statement_timeout = ${statementMsMax}; ${lockSql}`)
    return await work(transaction)
  })
}

const newTypes = `SELECT given.name FROM unnest($1::text[]) AS given(name)
  WHERE NOT EXISTS (SELECT FROM content_feature_types known WHERE known.name = given.name)`

/** The lists by index, each as the ids of its types in ascending order. */
const wantedSets = `(SELECT place, ARRAY(
    SELECT types.id FROM json_array_elements_text(names) AS wanted(name) JOIN content_feature_types types USING (name)
    ORDER BY types.id) AS ids
  FROM json_array_elements($1::json) WITH ORDINALITY AS sets(names, place)) AS wanted`

const newSets = `SELECT ids FROM ${wantedSets}
  WHERE NOT EXISTS (SELECT FROM content_feature_sets known WHERE known.feature_type_ids = wanted.ids)`

const setIds = `SELECT known.id FROM ${wantedSets}
  JOIN content_feature_sets known ON known.feature_type_ids = wanted.ids ORDER BY place`

/** Returns the ids of the lists, in their order. */
async function mergeFeatureSets(
  transaction: Transaction,
  { featureTypes, featureSets }: Pick<Batch, 'featureTypes' | 'featureSets'>,
): Promise<number[]> {
  const sets = JSON.stringify(featureSets)
  // A statement without a change would still raise the data version.
  if (await hasRows(transaction, newTypes, featureTypes)) {
    await transaction.query(`INSERT INTO content_feature_types (name) ${newTypes}`, [featureTypes])
  }
  if (await hasRows(transaction, newSets, sets)) {
    await transaction.query(`INSERT INTO content_feature_sets (feature_type_ids) ${newSets}`, [sets])
  }
  const { rows } = await transaction.query<{ id: number }>(setIds, [sets])
  return rows.map(row => row.id)
}

async function hasRows(transaction: Transaction, sql: string, parameter: unknown): Promise<boolean> {
  const { rows } = await transaction.query<{ found: boolean }>(`SELECT EXISTS (${sql}) AS found`, [parameter])
  return rows[0]?.found === true
}

/** Columns and their types, the key first. */
const columns: Record<ReferenceTable, Record<string, string>> = {
  content_units: { code: 'text', name: 'text', channel_url: 'text' },
  content_platforms: { code: 'text', name: 'text' },
  content_schools: { id: 'bigint', name: 'text', url: 'text' },
  content_departments: { department_id: 'text', name: 'text', channel_url: 'text', school_id: 'bigint' },
  content_topics: { id: 'bigint', name: 'text', icon: 'text', parent: 'bigint', channel_url: 'text' },
  content_resources: {
    id: 'bigint',
    readable_id: 'text',
    course_numbers: 'text[]',
    department_ids: 'text[]',
    topic_ids: 'bigint[]',
    offered_by: 'text',
    platform: 'text',
  },
  content_runs: {
    id: 'bigint',
    title: 'text',
    slug: 'text',
    semester: 'text',
    year: 'integer',
    readable_id: 'text',
    resource_id: 'bigint',
  },
}

/** A statement without a change would still raise the data version, so a query looks for differences first. */
async function mergeReferences(transaction: Transaction, references: Batch['references']): Promise<boolean> {
  const tables = referenceTables.filter(table => references[table].length > 0)
  const parameters = tables.map(table => JSON.stringify(references[table]))
  const conditions = tables.map((table, index) => `(${differsSql(table, index + 1)}) AS ${table}`)
  const { rows } = await transaction.query(`SELECT ${conditions.join(', ')}`, parameters)
  const changed = tables.filter(table => rows[0][table] === true)
  for (const table of changed) await transaction.query(mergeSql(table), [JSON.stringify(references[table])])
  return changed.length > 0
}

function recordset(table: ReferenceTable, parameter: number): string {
  const types = Object.entries(columns[table]).map(([name, type]) => `${name} ${type}`)
  return `json_to_recordset($${parameter}::json) AS new(${types.join(', ')})`
}

function listOf(table: ReferenceTable, prefix: string): string {
  return Object.keys(columns[table])
    .map(name => prefix + name)
    .join(', ')
}

function differsSql(table: ReferenceTable, parameter: number): string {
  const [key] = Object.keys(columns[table])
  return `SELECT EXISTS (SELECT FROM ${recordset(table, parameter)} LEFT JOIN ${table} old ON old.${key} = new.${key}
    WHERE (${listOf(table, 'new.')}) IS DISTINCT FROM (${listOf(table, 'old.')}))`
}

function mergeSql(table: ReferenceTable): string {
  const [key, ...others] = Object.keys(columns[table])
  return `INSERT INTO ${table} AS old (${listOf(table, '')}) SELECT ${listOf(table, 'new.')} FROM ${recordset(table, 1)}
    ON CONFLICT (${key}) DO UPDATE SET ${others.map(name => `${name} = excluded.${name}`).join(', ')}
    WHERE (${listOf(table, 'old.')}) IS DISTINCT FROM (${listOf(table, 'excluded.')})`
}
