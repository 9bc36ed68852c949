/** Values of a stored reading that have no column; see ingest/journal/stored-records.ts. */

export interface StoredFurther {
  readonly furtherCount: number
  /** The number of the series of one of them, by its place among them. */
  furtherSeries(place: number): number
  furtherValue(place: number): number
}
