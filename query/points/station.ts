/** What the queries have to know of a station. Plain data, so that it can be handed to a thread. */

export interface Station {
  readonly sn: string
  readonly timeZone: string
  readonly series: readonly { readonly number: number; readonly parameter: string }[]
}
