/** Updates the rows that files refer to: units, platforms, departments, topics, resources and runs. */

import type { Transaction } from '../../../store/postgres/transaction.ts'
import { type Batch, type ReferenceTable, referenceTables } from './batch.ts'

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
export async function mergeReferences(transaction: Transaction, references: Batch['references']): Promise<boolean> {
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
