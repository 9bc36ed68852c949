/** Values of a stored reading that have no column; see ingest/journal/stored-records.ts. */

export interface StoredCustom {
  readonly customCount: number
  /** The series number of one of them, by its index among them. */
  customSeries(place: number): number
  customValue(place: number): number
}
