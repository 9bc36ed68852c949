/**
 * What the journal and the forwarder have to know of a table. Everything else about its rows is opaque bytes to them:
 *
 *   accept → record → group (one sync) → segment → reader → batch (by key, by time) → rows in line protocol → request
 *   → QuestDB's sequencer → apply tracker → segment removed
 *
 * A series is one combination of the key's columns, such as a device. It has a number, which stands for it wherever rows
 * are compared; a row replaces another with the same series and time. Plain data, so that it can be handed to a thread.
 */

export interface TableDescription {
  /** Its name in QuestDB. */
  readonly name: string
  /** Its designated timestamp, which is part of the key of a row. */
  readonly timestamp: string
  /** Symbol columns that name the series; with the timestamp they are the table's UPSERT KEYS. */
  readonly key: readonly string[]
  /** An integer column for the number of the series, which is part of the key. */
  readonly seriesColumn?: string
  /** Further symbol columns. */
  readonly labels: readonly string[]
  readonly columns: readonly Column[]
  /** Distinguishes its records from those of other tables. */
  readonly recordKind: number
  /** The longest symbols of a row, all together, as line protocol writes them. */
  readonly symbolBytesMax: number
  /** Where values go that have no column of their own; without it there are none. */
  readonly custom?: CustomTable
}

/** A second table, with a row for each custom value of a record: its time, the number of the value's series, the value. */
export interface CustomTable {
  readonly name: string
  readonly timestamp: string
  readonly seriesColumn: string
  readonly valueColumn: string
  /** In one record. */
  readonly valuesMax: number
}

interface Column {
  readonly name: string
  /** A `timestamp` is in epoch microseconds, from 1970 on. */
  readonly type: 'double' | 'timestamp'
}

/** The names of the tables that have rows of its records. */
export function tableNames({ name, custom }: TableDescription): readonly string[] {
  return custom === undefined ? [name] : [name, custom.name]
}

/** All symbol columns, in the order in which they stand in a record and in a row. */
export function symbolColumns({ key, labels }: TableDescription): readonly string[] {
  return [...key, ...labels]
}
