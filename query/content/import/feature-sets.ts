/** Finds the ids of lists of feature types, and adds the types and lists that are new. */

import type { Transaction } from '../../../store/postgres/transaction.ts'
import type { Batch } from './batch.ts'

const newTypes = `SELECT given.name FROM unnest($1::text[]) AS given(name)
  WHERE NOT EXISTS (SELECT FROM content_feature_types known WHERE known.name = given.name)`

/** The lists by their places, each as the ids of its types in ascending order. */
const wantedSets = `(SELECT place, ARRAY(
    SELECT types.id FROM json_array_elements_text(names) AS wanted(name) JOIN content_feature_types types USING (name)
    ORDER BY types.id) AS ids
  FROM json_array_elements($1::json) WITH ORDINALITY AS sets(names, place)) AS wanted`

const newSets = `SELECT ids FROM ${wantedSets}
  WHERE NOT EXISTS (SELECT FROM content_feature_sets known WHERE known.feature_type_ids = wanted.ids)`

const setIds = `SELECT known.id FROM ${wantedSets}
  JOIN content_feature_sets known ON known.feature_type_ids = wanted.ids ORDER BY place`

/** The ids of the lists, in their order. */
export async function mergeFeatureSets(
  transaction: Transaction,
  { featureTypes, featureSets }: Pick<Batch, 'featureTypes' | 'featureSets'>,
): Promise<number[]> {
  const sets = JSON.stringify(featureSets)
  // As with the other tables, a statement that adds nothing would raise the data version all the same.
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
