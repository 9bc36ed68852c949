/** The bytes of a request to QuestDB. Large requests are encoded while they are sent, and so take little memory. */
export interface RequestBody {
  readonly length: number
  /** Iterates from the start at each call. A piece stays valid until the piece after the next is requested. */
  pieces(): Iterable<Uint8Array>
}
