/**
 * The description of a table for the journal and the forwarder. Everything else about its rows is opaque bytes to them:
 *
 * accept → record → group (one sync) → segment → reader → batch (by key, by time) → rows in line protocol → request → QuestDB's
 * sequencer → apply tracker → segment removed
 *
 * A series is one combination of the key's columns, such as a device. Its number identifies it wherever rows are compared; a row
 * replaces another with the same series and time. Plain data, so that it can be posted to a thread.
 */

export interface TableDescription {
  /** Its name in QuestDB. */
  readonly name: string
  /** Its designated timestamp, which is part of the key of a row. */
  readonly timestamp: string
  /** Symbol columns that name the series. With the timestamp they are the table's UPSERT KEYS. */
  readonly key: readonly string[]
  /** An integer column for the number of the series, which is part of the key. */
  readonly seriesColumn?: string
  /** Further symbol columns. */
  readonly labels: readonly string[]
  readonly columns: readonly Column[]
  /** Distinguishes its records from other tables' records. */
  readonly recordKind: number
  /** Maximum total length of a row's symbols, as line protocol writes them. */
  readonly symbolBytesMax: number
  /** Table of values without a column. Without it records have no such values. */
  readonly custom?: CustomTable
}

/** A second table, with a row for each custom value of a record: its time, the number of the value's series, the value. */
export interface CustomTable {
  readonly name: string
  readonly timestamp: string
  readonly seriesColumn: string
  readonly valueColumn: string
  /** Maximum values of a record. */
  readonly valuesMax: number
}

interface Column {
  readonly name: string
  /** A `timestamp` is in epoch microseconds, from 1970 on. */
  readonly type: 'double' | 'timestamp'
}

/** Names of the tables with rows of its records. */
export function tableNames({ name, custom }: TableDescription): readonly string[] {
  return custom === undefined ? [name] : [name, custom.name]
}

/** All symbol columns, in the order of records and rows. */
export function symbolColumns({ key, labels }: TableDescription): readonly string[] {
  return [...key, ...labels]
}
