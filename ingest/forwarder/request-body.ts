/** The bytes of a request to QuestDB. Those of many rows are made while they are sent, and so take little memory. */
export interface RequestBody {
  readonly length: number
  /** From the start, whenever it is called. A piece stays as it is until the next but one is asked for. */
  pieces(): Iterable<Uint8Array>
}
