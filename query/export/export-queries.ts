/** What crosses between the main thread and the thread of the exports. */

export const exportFormats = ['csv', 'ndjson', 'parquet'] as const
export type ExportFormat = (typeof exportFormats)[number]

export interface ExportRange {
  /** Microseconds; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
  /** Of which devices; undefined for all that there are. */
  readonly symbols: readonly string[] | undefined
}

interface PieceQuery extends ExportRange {
  readonly format: ExportFormat
  /** The names of devices by their numbers, as `encodeNames` wrote them. Readings of other devices are left out. */
  readonly names: string
  readonly rowsMax: number
  /** Bytes of the file so far. */
  readonly fileOffset: number
}

export interface ExportQueries {
  readonly piece: PieceQuery
  readonly count: ExportRange
  /** The end of a Parquet file. */
  readonly footer: { readonly rowGroups: readonly Uint8Array[]; readonly fileOffset: number }
}

export interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** What the footer of a Parquet file tells of its groups of rows; serialized, for main only collects it. */
  readonly rowGroups?: Uint8Array<ArrayBuffer>
  /** How many readings were read, those that were left out among them. */
  readonly rowsRead: number
  /** Where the next piece begins; undefined behind the last one. */
  readonly nextUs: number | undefined
  readonly nextOffset: number
}

export interface Count {
  readonly rows: number
}

export interface Footer {
  readonly bytes: Uint8Array<ArrayBuffer>
}

export type ExportResult = Piece | Count | Footer

export interface NamedDevice {
  readonly number: number
  readonly name: string
}

/** Text, because it is quicker to post than a hundred thousand objects. */
export function encodeNames(devices: readonly NamedDevice[]): string {
  return JSON.stringify(devices.map(({ number, name }) => [number, name]))
}

/** The same names come with every piece of an export, so the last ones are cached. */
export function createNamesReader(): (text: string) => ReadonlyMap<number, string> {
  let lastText = '[]'
  let last: ReadonlyMap<number, string> = new Map()
  return text => {
    if (text !== lastText) {
      last = new Map(JSON.parse(text) as [number, string][])
      lastText = text
    }
    return last
  }
}
